-- C-8 Fences an operation under the lock of its shard: the operation is applied already, or never will be. Deletes a
-- shard that it created for the lock, unless the shard counts the operations of a window.
-- Returns cancelled | already value | full
CREATE OR REPLACE FUNCTION {schema}.counter_cancel(
    p_namespace bigint, p_key text, p_op text, p_part integer, p_shards integer, p_floor bigint, p_ceiling bigint,
    p_keeps bigint, p_capacity bigint, OUT outcome text, OUT value bigint
)
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp SET enable_seqscan = off SET lock_timeout = '3s' AS $$
DECLARE
    cell      record;
    forgotten timestamptz;
    kept      bigint;
BEGIN
    SELECT * INTO cell FROM {schema}.counter_lock(p_namespace, p_key, p_part, p_shards, p_floor, p_ceiling);
    forgotten := {schema}.forgotten_before(p_keeps, cell.now);
    SELECT k.outcome, k.value INTO outcome, value FROM {schema}.counter_known(p_namespace, p_key, p_op, NULL, NULL, forgotten) k;
    kept := cell.ops;
    IF outcome IS NULL AND kept >= p_capacity THEN
        kept := kept - {schema}.counter_purge(p_namespace, p_key, forgotten, NULL);
    END IF;
    IF outcome = 'fenced' THEN
        outcome := 'cancelled';
    ELSIF outcome IS NULL AND kept >= p_capacity THEN
        outcome := 'full';
    ELSIF outcome IS NULL THEN
        kept := kept + {schema}.counter_remember(p_namespace, p_key, p_op, NULL, NULL, cell.now, p_capacity IS NOT NULL);
        outcome := 'cancelled';
    END IF;
    IF cell.made AND (p_capacity IS NULL OR kept = 0) THEN
        DELETE FROM {schema}.counters c WHERE c.ctid = cell.place;
    ELSIF p_capacity IS NOT NULL THEN
        UPDATE {schema}.counters c SET ops = kept WHERE c.ctid = cell.place;
    END IF;
END $$;
