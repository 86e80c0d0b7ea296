-- Ends every setup: a function can be called only by roles to which it was granted.
REVOKE EXECUTE ON ALL FUNCTIONS IN SCHEMA {schema} FROM PUBLIC;
COMMIT;
