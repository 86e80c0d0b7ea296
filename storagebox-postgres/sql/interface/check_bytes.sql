-- V-3 Checks the length of a payload of the interface.
CREATE OR REPLACE FUNCTION {schema}.check_bytes(p_argument text, p_bytes bytea) RETURNS void
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    IF p_bytes IS NULL THEN
        RAISE EXCEPTION '% must not be null', p_argument USING ERRCODE = 'SB005';
    ELSIF octet_length(p_bytes) > 262144 THEN
        RAISE EXCEPTION '% must have at most 262144 bytes, not %', p_argument, octet_length(p_bytes)
            USING ERRCODE = 'SB005';
    END IF;
END $$;
