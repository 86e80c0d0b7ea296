-- T-2, T-7, T-8, T-9 Creates tokens.
-- Returns how many were created, how many were live, and how many were gone.
CREATE OR REPLACE FUNCTION {schema}.token_create(p_namespace bigint, p_tokens text[], p_memory bigint)
RETURNS TABLE (created bigint, already_live bigint, gone bigint)
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp SET enable_seqscan = off SET lock_timeout = '3s' AS $$
DECLARE
    new text[] := {schema}.token_make(p_namespace, p_tokens, p_memory);
BEGIN
    RETURN QUERY
    SELECT coalesce(pg_catalog.cardinality(new), 0)::bigint, count(*) FILTER (WHERE t.gone_at IS NULL),
           count(*) FILTER (WHERE t.gone_at IS NOT NULL)
    FROM (SELECT pg_catalog.unnest(p_tokens) EXCEPT SELECT pg_catalog.unnest(new)) rest(token)
    JOIN {schema}.tokens t ON t.namespace = p_namespace AND t.token = rest.token;
END $$;
