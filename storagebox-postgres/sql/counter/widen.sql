-- C-2 Moves the bound of a shard that is in the direction of a change. A positive `p_by` gives the shard more room.
CREATE OR REPLACE FUNCTION {schema}.counter_widen(
    p_namespace bigint, p_key text, p_shard integer, p_delta bigint, p_by numeric
) RETURNS void
LANGUAGE sql SET search_path = pg_catalog, pg_temp AS $$
    UPDATE {schema}.counters c
    SET floor = c.floor - CASE WHEN p_delta < 0 THEN p_by ELSE 0 END,
        ceiling = c.ceiling + CASE WHEN p_delta < 0 THEN 0 ELSE p_by END
    WHERE c.namespace = p_namespace AND c.key = p_key AND c.shard = p_shard
$$;
