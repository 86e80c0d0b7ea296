-- C-1, J-1 Applies one operation within a transaction of the caller. A shard that has no room is unlocked at once,
-- because `counter_apply_widely` then locks all shards in their order.
-- Returns what `counter_apply` returns.
CREATE OR REPLACE FUNCTION {schema}.counter_apply_within(
    p_namespace bigint, p_keys text[], p_ops text[], p_calls bigint[], p_repeated boolean[], p_deltas bigint[],
    p_floors bigint[], p_ceilings bigint[], p_parts integer[], p_shards integer, p_floor bigint, p_ceiling bigint,
    p_split boolean, p_remembers boolean, p_keeps bigint, p_capacity bigint
) RETURNS TABLE (outcome text, value bigint)
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp SET enable_seqscan = off SET lock_timeout = '3s' AS $$
BEGIN
    BEGIN
        SELECT a.outcome, a.value INTO outcome, value FROM {schema}.counter_apply(
            p_namespace, p_keys, p_ops, p_calls, p_repeated, p_deltas, p_floors, p_ceilings, p_parts, p_shards,
            p_floor, p_ceiling, p_split, p_remembers, p_keeps, p_capacity
        ) a;
        IF outcome = 'dry' THEN
            RAISE EXCEPTION 'the shard has no room' USING ERRCODE = 'SB000';
        END IF;
    EXCEPTION WHEN SQLSTATE 'SB000' THEN
        -- The lock is gone with what the block did.
        outcome := 'dry';
    END;
    RETURN NEXT;
END $$;
