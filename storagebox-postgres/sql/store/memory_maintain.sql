-- S-2, E-6 Deletes at most `p_limit` rows whose memory is over: fences of claims, fences of operations on records, gone
-- tokens, and entities without state and entry.
-- Returns the number of deleted rows.
CREATE OR REPLACE FUNCTION {schema}.memory_maintain(p_memory bigint, p_limit bigint) RETURNS bigint
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp SET enable_seqscan = off SET enable_sort = off AS $$
DECLARE
    forgotten timestamptz := {schema}.forgotten_before(p_memory, {schema}.clock());
    one       record;
    removed   bigint := 0;
    part      bigint;
BEGIN
    FOR one IN SELECT * FROM (VALUES
        ('bank', 'claims', 'bank', 'ended_at'), ('records', 'ended_ops', 'namespace', 'since'),
        ('tokens', 'tokens', 'namespace', 'gone_at'), ('entities', 'entities', 'namespace', 'emptied_at')
    ) AS t(kind, name, namespace, age) LOOP
        EXIT WHEN removed >= p_limit;
        -- The index by age has the oldest rows without a sort. The condition is evaluated again when a row is locked.
        -- Rows that others have locked are skipped.
        EXECUTE format('
            DELETE FROM {schema}.%1$I d WHERE d.ctid = ANY (ARRAY(
                SELECT o.place FROM {schema}.namespaces b, LATERAL (
                    SELECT k.ctid AS place FROM {schema}.%1$I k WHERE k.%2$I = b.namespace AND k.%3$I <= $2
                    ORDER BY k.%3$I LIMIT $3 FOR UPDATE SKIP LOCKED
                ) o WHERE b.kind = $1 LIMIT $3
            ))', one.name, one.namespace, one.age) USING one.kind, forgotten, p_limit - removed;
        GET DIAGNOSTICS part = ROW_COUNT;
        removed := removed + part;
    END LOOP;
    RETURN removed;
END $$;
