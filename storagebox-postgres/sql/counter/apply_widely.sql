-- C-2, C-7 Applies an operation whose own shard has no room: locks all shards in order, tests the total, and moves room
-- to that shard from the others. The parts of the bounds still add up to the bounds.
-- A total that is out of bounds in a first snapshot is refused without a lock, unless the attempt is repeated. ER-5 The
-- refusal of a repeated attempt makes its call void, under the lock of the operation's shard. C-8 A refusal leaves no
-- new shard.
-- Returns the outcomes of `counter_apply`, without 'dry'.
CREATE OR REPLACE FUNCTION {schema}.counter_apply_widely(
    p_namespace bigint, p_key text, p_op text, p_call bigint, p_is_repeated boolean, p_delta bigint,
    p_part integer, p_shards integer, p_floor bigint, p_ceiling bigint, p_keeps bigint, OUT outcome text, OUT value bigint
)
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp SET enable_seqscan = off SET lock_timeout = '3s' AS $$
DECLARE
    now     timestamptz;
    before  timestamptz;
    made    integer[];
    present bigint;
    total   numeric;
    refused text;
    missing numeric;
    other   record;
    moved   numeric;
BEGIN
    SELECT coalesce(sum(c.value), 0::numeric) + p_delta::numeric, count(*) INTO total, present
    FROM {schema}.counters c WHERE c.namespace = p_namespace AND c.key = p_key;
    refused := {schema}.counter_verdict(total, p_floor, p_ceiling);
    IF refused IS NULL OR p_is_repeated THEN
        refused := NULL;
        made := {schema}.counter_lock_all(p_namespace, p_key, p_shards, p_floor, p_ceiling, present = p_shards::bigint);
    END IF;
    -- Read after the sum, so that an earlier attempt of the operation is found if the sum includes it.
    now := {schema}.clock();
    before := {schema}.forgotten_before(p_keeps, now);
    SELECT k.outcome, k.value INTO outcome, value
    FROM {schema}.counter_known(p_namespace, p_key, p_op, p_call, p_delta, before) k;
    IF outcome IS NULL AND refused IS NULL THEN
        SELECT sum(c.value) + p_delta::numeric,
               abs(p_delta::numeric) - max({schema}.counter_room(c.value, c.floor, c.ceiling, p_delta)) FILTER (WHERE c.shard = p_part)
        INTO total, missing FROM {schema}.counters c WHERE c.namespace = p_namespace AND c.key = p_key;
        refused := {schema}.counter_verdict(total, p_floor, p_ceiling);
        IF refused IS NOT NULL AND p_is_repeated THEN
            refused := {schema}.counter_refuse(p_namespace, p_key, p_op, p_call, refused, now, before);
        END IF;
    END IF;
    outcome := coalesce(outcome, refused);
    IF outcome IS NOT NULL THEN
        DELETE FROM {schema}.counters c WHERE c.namespace = p_namespace AND c.key = p_key AND c.shard = ANY (made);
        RETURN;
    END IF;
    FOR other IN
        SELECT c.shard, {schema}.counter_room(c.value, c.floor, c.ceiling, p_delta) AS room FROM {schema}.counters c
        WHERE c.namespace = p_namespace AND c.key = p_key AND c.shard <> p_part ORDER BY room DESC
    LOOP
        EXIT WHEN missing <= 0::numeric;
        -- Also half of the rest of the other shard's room, so that the next operations find room.
        moved := least(other.room, missing + trunc((other.room - least(other.room, missing)) / 2::numeric));
        PERFORM {schema}.counter_widen(p_namespace, p_key, other.shard, p_delta, -moved);
        PERFORM {schema}.counter_widen(p_namespace, p_key, p_part, p_delta, moved);
        missing := missing - moved;
    END LOOP;
    UPDATE {schema}.counters c SET value = c.value + p_delta::numeric WHERE c.namespace = p_namespace AND c.key = p_key AND c.shard = p_part;
    PERFORM {schema}.counter_remember(p_namespace, p_key, p_op, p_delta, NULL, now, false);
    outcome := 'applied';
END $$;
