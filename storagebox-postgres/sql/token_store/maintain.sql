-- S-2 Deletes at most `p_limit` gone tokens whose memory is over.
-- Returns the number of deleted tokens.
CREATE OR REPLACE FUNCTION {schema}.token_maintain(p_memory bigint, p_limit bigint) RETURNS bigint
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp SET enable_seqscan = off AS $$
DECLARE
    forgotten timestamptz := {schema}.forgotten_before(p_memory, {schema}.clock());
    one       bigint;
    removed   bigint := 0;
    part      bigint;
BEGIN
    FOR one IN SELECT b.namespace FROM {schema}.namespaces b WHERE b.kind = 'tokens' ORDER BY b.namespace LOOP
        EXIT WHEN removed >= p_limit;
        DELETE FROM {schema}.tokens t WHERE t.ctid = ANY (ARRAY(
            SELECT k.ctid FROM {schema}.tokens k WHERE k.namespace = one AND k.gone_at <= forgotten
            ORDER BY k.gone_at LIMIT p_limit - removed FOR UPDATE SKIP LOCKED
        ));
        GET DIAGNOSTICS part = ROW_COUNT;
        removed := removed + part;
    END LOOP;
    RETURN removed;
END $$;
