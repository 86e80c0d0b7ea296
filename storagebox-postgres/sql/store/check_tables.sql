-- Checks the tables for faults that make no statement fail. Runs when a namespace is opened. `look.sql` makes the same
-- checks for `ping` and `setup`.
CREATE OR REPLACE FUNCTION {schema}.check_tables() RETURNS void
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    found record;
BEGIN
    -- Policies can hide rows from the functions, and a claim whose row is hidden would get a second item.
    IF EXISTS (SELECT FROM pg_class c WHERE c.relnamespace = '{schema}'::regnamespace AND c.relname = ANY ('{{tables}}'::name[])
        AND row_security_active(c.oid)) THEN
        RAISE EXCEPTION 'row security is forced on a table of the schema' USING ERRCODE = '42501';
    END IF;
    SELECT
{unfit}    INTO found;
    IF found.keyless IS NOT NULL THEN
        RAISE EXCEPTION 'the table % has no unique index', found.keyless USING ERRCODE = '42P10';
    ELSIF found.diverted IS NOT NULL THEN
        RAISE EXCEPTION 'a BEFORE ROW trigger or a rule can discard a write to the table % without an error', found.diverted
            USING ERRCODE = '27000';
    END IF;
END $$;
