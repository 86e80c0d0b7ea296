-- C-1, C-2, C-4, C-5 Adds `delta` to a counter, by the strategy with which the counters were created. `op` names the
-- change, so that a retry is recognised.
-- Returns one row: applied value | already_applied value | overflow | out_of_bounds | full | mismatch | fenced. `value`
-- is null for sharded counters.
CREATE OR REPLACE FUNCTION {schema}.add_to_counter(
    counters text, key text, op text, delta bigint, floor bigint DEFAULT NULL, ceiling bigint DEFAULT NULL
) RETURNS TABLE (outcome text, value bigint)
LANGUAGE plpgsql SECURITY DEFINER ROWS 1 SET search_path = pg_catalog, pg_temp
SET row_security = off SET lock_timeout = '3s' AS $$
DECLARE
    week        CONSTANT bigint := 604800000000;
    call_number CONSTANT bigint := {schema}.random_number();
    known record;
    rules record;
    shard integer;
BEGIN
    PERFORM {schema}.check_text('key', key);
    PERFORM {schema}.check_text('op', op);
    PERFORM {schema}.check_number('delta', delta);
    SELECT * INTO known FROM {schema}.namespace_named('counters', counters, 'Marker for 604800000000 us', week);
    SELECT * INTO rules FROM {schema}.counter_rules(known.options);
    IF floor > ceiling OR rules.is_split AND (floor <> rules.floor OR ceiling <> rules.ceiling) THEN
        RAISE EXCEPTION 'floor must not be above ceiling, and sharded counters have bounds of their own'
            USING ERRCODE = 'SB005';
    END IF;
    shard := mod(mod({schema}.hash_of(op), rules.shards::bigint) + rules.shards::bigint, rules.shards::bigint);
    SELECT a.outcome, a.value INTO outcome, value FROM {schema}.counter_apply_within(
        known.number, ARRAY[key], ARRAY[op], ARRAY[call_number], ARRAY[false], ARRAY[delta], ARRAY[floor],
        ARRAY[ceiling], ARRAY[shard], rules.shards, rules.floor, rules.ceiling, rules.is_split, rules.remembers,
        known.keeps, rules.capacity
    ) a;
    IF outcome = 'dry' THEN
        SELECT a.outcome, a.value INTO outcome, value FROM {schema}.counter_apply_widely(
            known.number, key, op, call_number, false, delta, shard, rules.shards, rules.floor, rules.ceiling,
            known.keeps
        ) a;
    END IF;
    IF outcome NOT IN ('applied', 'already') THEN
        value := NULL;
    END IF;
    outcome := CASE outcome WHEN 'already' THEN 'already_applied' ELSE replace(outcome, ' ', '_') END;
    RETURN NEXT;
END $$;
