-- D-4 Lists the records that have not expired, in the order of their ids.
CREATE OR REPLACE FUNCTION {schema}.dedup_list(p_namespace bigint, p_after text, p_limit bigint)
RETURNS TABLE (id text, value bytea, version bigint)
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp SET enable_seqscan = off AS $$
DECLARE
    asked timestamptz := {schema}.clock();
BEGIN
    RETURN QUERY
    SELECT r.id, r.value, r.version FROM {schema}.records r
    WHERE r.namespace = p_namespace AND r.id > p_after AND r.state = 'done' AND (r.until IS NULL OR r.until > asked)
    ORDER BY r.id LIMIT p_limit;
END $$;
