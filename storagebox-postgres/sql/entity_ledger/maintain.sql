-- S-2, E-6 Deletes at most `p_limit` entities without state and entry whose memory is over.
-- Returns the number of deleted entities.
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
        -- The condition is evaluated again when a row is locked. Rows that others have locked are skipped.
        DELETE FROM {schema}.entities e WHERE e.ctid = ANY (ARRAY(
            SELECT k.ctid FROM {schema}.entities k WHERE k.namespace = one AND k.emptied_at <= forgotten
            ORDER BY k.emptied_at LIMIT p_limit - removed FOR UPDATE SKIP LOCKED
        ));
        GET DIAGNOSTICS part = ROW_COUNT;
        removed := removed + part;
    END LOOP;
    RETURN removed;
END $$;
