-- S-2 Deletes at most `p_limit` fences of claims whose memory is over.
-- Returns the number of deleted fences.
CREATE OR REPLACE FUNCTION {schema}.bank_maintain(p_memory bigint, p_limit bigint) RETURNS bigint
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp SET enable_seqscan = off AS $$
DECLARE
    before  timestamptz := {schema}.forgotten_before(p_memory, {schema}.clock());
    one     bigint;
    removed bigint := 0;
    part    bigint;
BEGIN
    FOR one IN SELECT b.namespace FROM {schema}.namespaces b WHERE b.kind = 'bank' ORDER BY b.namespace LOOP
        EXIT WHEN removed >= p_limit;
        DELETE FROM {schema}.claims c WHERE c.ctid = ANY (ARRAY(
            SELECT k.ctid FROM {schema}.claims k WHERE k.bank = one AND k.ended_at <= before
            ORDER BY k.ended_at LIMIT p_limit - removed FOR UPDATE SKIP LOCKED
        ));
        GET DIAGNOSTICS part = ROW_COUNT;
        removed := removed + part;
    END LOOP;
    RETURN removed;
END $$;
