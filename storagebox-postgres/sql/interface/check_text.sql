-- V-1 Checks the length of a name or an id of the interface. The error names the argument and the length, not the text.
CREATE OR REPLACE FUNCTION {schema}.check_text(p_argument text, p_text text) RETURNS void
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    IF p_text IS NULL THEN
        RAISE EXCEPTION '% must not be null', p_argument USING ERRCODE = 'SB005';
    ELSIF octet_length(p_text) NOT BETWEEN 1 AND 512 THEN
        RAISE EXCEPTION '% must have 1 to 512 bytes, not %', p_argument, octet_length(p_text) USING ERRCODE = 'SB005';
    END IF;
END $$;
