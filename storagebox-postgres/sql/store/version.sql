-- The version of the schema, as a name that every statement of a client says. The name is looked up when a statement is
-- prepared, and again when what it means has changed, so that it costs a call nothing; and a program that was opened before an
-- upgrade does not find it any more. The names of other versions go.
DO $$
DECLARE
    other regprocedure;
BEGIN
    FOR other IN
        SELECT p.oid FROM pg_proc p JOIN pg_namespace n ON n.oid = p.pronamespace
        WHERE n.nspname = '{schema}' AND p.proname ~ '^is_version_[0-9]+$' AND p.proname <> 'is_version_{version}'
    LOOP
        EXECUTE format('DROP FUNCTION %s', other);
    END LOOP;
END $$;
CREATE OR REPLACE FUNCTION {schema}.is_version_{version}() RETURNS boolean
LANGUAGE sql IMMUTABLE RETURN true;
