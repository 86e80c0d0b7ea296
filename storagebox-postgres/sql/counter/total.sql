-- C-6, C-7 Returns the sum of the shards, read in one snapshot.
CREATE OR REPLACE FUNCTION {schema}.counter_total(p_namespace bigint, p_key text) RETURNS bigint
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp SET enable_seqscan = off AS $$
BEGIN
    RETURN (SELECT coalesce(sum(c.value), 0)::bigint FROM {schema}.counters c WHERE c.namespace = p_namespace AND c.key = p_key);
END $$;
