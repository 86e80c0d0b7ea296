-- What the functions rely on and no statement would miss: asked when a namespace is opened, and by `ping` and `setup`.
CREATE OR REPLACE FUNCTION {schema}.check_tables() RETURNS void
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    found record;
BEGIN
    SELECT
{unfit}    INTO found;
    IF found.keyless IS NOT NULL THEN
        RAISE EXCEPTION 'the table % has no unique index', found.keyless USING ERRCODE = '42P10';
    ELSIF found.diverted IS NOT NULL THEN
        RAISE EXCEPTION 'a trigger before each row, or a rule, may make nothing of a write to the table %', found.diverted
            USING ERRCODE = '27000';
    END IF;
END $$;
