-- What every setup ends with: nobody calls a function who was not granted it.
REVOKE EXECUTE ON ALL FUNCTIONS IN SCHEMA {schema} FROM PUBLIC;
COMMIT;
