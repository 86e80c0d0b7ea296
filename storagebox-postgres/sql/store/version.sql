-- Creates a function that has the schema's version in its name, and drops the functions of other versions. Every
-- statement of a client names the function. The name is looked up when a statement is prepared, and again when the
-- function changes. So the lookup costs a call nothing, and a program that was opened before an upgrade no longer finds
-- its function.
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
