-- S-2 removes at most `p_limit` entities that have neither a state nor an entry, for longer than operations are remembered.
CREATE OR REPLACE FUNCTION {schema}.entity_maintain(p_memory bigint, p_limit bigint) RETURNS bigint
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp SET enable_seqscan = off AS $$
DECLARE
    forgotten timestamptz := {schema}.forgotten_before(p_memory, {schema}.clock());
    one       bigint;
    removed   bigint := 0;
    part      bigint;
BEGIN
    FOR one IN SELECT b.namespace FROM {schema}.namespaces b WHERE b.kind = 'entities' ORDER BY b.namespace LOOP
        EXIT WHEN removed >= p_limit;
        -- Judged again when a row is locked, and a row that is locked stays as it is.
        DELETE FROM {schema}.entities e WHERE e.ctid = ANY (ARRAY(
            SELECT k.ctid FROM {schema}.entities k WHERE k.namespace = one AND k.emptied_at <= forgotten
            ORDER BY k.emptied_at LIMIT p_limit - removed FOR UPDATE SKIP LOCKED
        ));
        GET DIAGNOSTICS part = ROW_COUNT;
        removed := removed + part;
    END LOOP;
    RETURN removed;
END $$;
