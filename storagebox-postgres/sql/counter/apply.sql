-- C-1 Applies operations: each operation and its effect are one step, under the lock of its shard. An operation always
-- goes to the same shard. C-2 The bounds are tested under the lock too.
-- C-2, C-4, C-8 'overflow', 'out of bounds' and 'full' change nothing and are not remembered.
-- 'dry': the shard has no room, and the client calls `counter_apply_widely`, which uses the room of all shards.
-- ER-5 A refusal of a repeated attempt makes its call void, if operations are remembered.
-- The caller sorts the arrays by key and shard. Each shard is written once.
-- Returns one row per operation, in the order of the arrays:
-- applied value | already value | overflow | out of bounds | full | mismatch | fenced | dry | open: refused, but the
-- call is not void
CREATE OR REPLACE FUNCTION {schema}.counter_apply(
    p_namespace bigint, p_keys text[], p_ops text[], p_calls bigint[], p_repeated boolean[], p_deltas bigint[],
    p_floors bigint[], p_ceilings bigint[], p_parts integer[], p_shards integer, p_floor bigint, p_ceiling bigint,
    p_split boolean, p_remembers boolean, p_keeps bigint, p_capacity bigint
) RETURNS TABLE (outcome text, value bigint)
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp SET enable_seqscan = off SET lock_timeout = '3s' AS $$
DECLARE
    lowest    CONSTANT numeric := -9223372036854775808;
    highest   CONSTANT numeric := 9223372036854775807;
    last      CONSTANT integer := pg_catalog.cardinality(p_keys);
    cell      record;
    forgotten timestamptz;
    total     numeric;
    stored    bigint;
    result    numeric;
    added     bigint;
BEGIN
    FOR i IN 1 .. last LOOP
        IF i = 1 OR p_keys[i] <> p_keys[i - 1] OR p_parts[i] <> p_parts[i - 1] THEN
            SELECT * INTO cell
            FROM {schema}.counter_lock(p_namespace, p_keys[i], p_parts[i], p_shards, p_floor, p_ceiling);
            forgotten := {schema}.forgotten_before(p_keeps, cell.now);
            total := cell.value;
            stored := cell.ops;
        END IF;
        outcome := NULL;
        value := NULL;
        IF p_remembers THEN
            SELECT k.outcome, k.value INTO outcome, value
            FROM {schema}.counter_known(p_namespace, p_keys[i], p_ops[i], p_calls[i], p_deltas[i], forgotten) k;
        END IF;
        result := total + p_deltas[i]::numeric;
        IF outcome IS NOT NULL THEN
            NULL;
        ELSIF p_split AND (result < cell.floor OR result > cell.ceiling) THEN
            outcome := 'dry';
        ELSIF NOT p_split AND (result < lowest OR result > highest) THEN
            outcome := 'overflow';
        ELSIF NOT p_split AND (result < p_floors[i]::numeric OR result > p_ceilings[i]::numeric) THEN
            outcome := 'out of bounds';
        ELSE
            IF stored >= p_capacity THEN
                stored := stored - {schema}.counter_purge(p_namespace, p_keys[i], forgotten, NULL);
            END IF;
            IF stored >= p_capacity THEN
                outcome := 'full';
            ELSE
                outcome := 'applied';
                total := result;
                value := CASE WHEN NOT p_split THEN result END;
                IF p_remembers THEN
                    added := {schema}.counter_remember(
                        p_namespace, p_keys[i], p_ops[i], p_deltas[i], value, cell.now, p_capacity IS NOT NULL
                    );
                    stored := stored + CASE WHEN p_capacity IS NULL THEN 0 ELSE added END;
                END IF;
            END IF;
        END IF;
        IF p_repeated[i] AND outcome IN ('overflow', 'out of bounds', 'full') THEN
            IF p_capacity IS NOT NULL THEN
                -- A forgotten operation is still counted, and a refusal that took its row would not be.
                stored := stored - {schema}.counter_purge(p_namespace, p_keys[i], forgotten, NULL);
            END IF;
            outcome := CASE WHEN p_remembers THEN {schema}.counter_refuse(
                p_namespace, p_keys[i], p_ops[i], p_calls[i], outcome, cell.now, forgotten
            ) ELSE 'open' END;
        END IF;
        RETURN NEXT;
        IF i = last OR p_keys[i] <> p_keys[i + 1] OR p_parts[i] <> p_parts[i + 1] THEN
            IF (cell.made OR p_capacity IS NOT NULL) AND total = 0::numeric AND stored = 0 THEN
                DELETE FROM {schema}.counters c WHERE c.ctid = cell.place;
            ELSIF total <> cell.value OR stored <> cell.ops THEN
                UPDATE {schema}.counters c SET value = total, ops = stored WHERE c.ctid = cell.place;
            END IF;
        END IF;
    END LOOP;
END $$;
