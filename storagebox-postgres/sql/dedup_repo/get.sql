-- D-4 Reads a record that has not expired. Reads the clock first.
CREATE OR REPLACE FUNCTION {schema}.dedup_get(p_namespace bigint, p_id text) RETURNS TABLE (value bytea, version bigint)
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp SET enable_seqscan = off AS $$
DECLARE
    asked timestamptz := {schema}.clock();
BEGIN
    RETURN QUERY
    SELECT r.value, r.version FROM {schema}.records r
    WHERE r.namespace = p_namespace AND r.id = p_id AND r.state = 'done' AND (r.until IS NULL OR r.until > asked);
END $$;
