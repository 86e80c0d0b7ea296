-- Returns the version of the SQL interface. It grows by one when a function is added (docs/SQL.md).
CREATE OR REPLACE FUNCTION {schema}.interface_version() RETURNS integer
LANGUAGE sql IMMUTABLE RETURN 1;
