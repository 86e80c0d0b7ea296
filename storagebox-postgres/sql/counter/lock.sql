-- Locks one shard of a counter. If it does not exist, creates it at 0 with its part of the bounds.
-- Returns the shard, whether it is new, and the clock, read after the lock.
CREATE OR REPLACE FUNCTION {schema}.counter_lock(
    p_namespace bigint, p_key text, p_shard integer, p_shards integer, p_floor bigint, p_ceiling bigint,
    OUT place tid, OUT value numeric, OUT floor numeric, OUT ceiling numeric, OUT ops bigint, OUT made boolean,
    OUT now timestamptz
)
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    made := false;
    LOOP
        SELECT c.ctid, c.value, c.floor, c.ceiling, c.ops INTO place, value, floor, ceiling, ops
        FROM {schema}.counters c WHERE c.namespace = p_namespace AND c.key = p_key AND c.shard = p_shard FOR UPDATE;
        EXIT WHEN FOUND;
        INSERT INTO {schema}.counters AS c VALUES (
            p_namespace, p_key, p_shard, 0, {schema}.counter_share(p_floor, p_shards, p_shard),
            {schema}.counter_share(p_ceiling, p_shards, p_shard), 0
        ) ON CONFLICT DO NOTHING;
        made := FOUND;
    END LOOP;
    now := {schema}.clock();
END $$;
