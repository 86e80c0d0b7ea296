-- O-3 Reads the value of a key.
-- Returns no row if the newest write is a delete.
CREATE OR REPLACE FUNCTION {schema}.ordered_get(p_namespace bigint, p_key text)
RETURNS TABLE (value bytea, at bigint, writer text)
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp SET enable_seqscan = off AS $$
BEGIN
    RETURN QUERY
    SELECT v.value, v.at, v.writer FROM {schema}.ordered_values v
    WHERE v.namespace = p_namespace AND v.key = p_key AND v.value IS NOT NULL;
END $$;
