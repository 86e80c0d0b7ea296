-- Checks that a number of the interface was given.
CREATE OR REPLACE FUNCTION {schema}.check_number(p_argument text, p_number bigint) RETURNS void
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    IF p_number IS NULL THEN
        RAISE EXCEPTION '% must not be null', p_argument USING ERRCODE = 'SB005';
    END IF;
END $$;
