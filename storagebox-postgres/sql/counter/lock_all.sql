-- Locks all shards of a counter in their order, as a batch does, and creates missing shards on the way. If all shards
-- exist, one statement locks them: no committed shard of a counter with several shards is ever deleted.
-- Returns the new shards.
CREATE OR REPLACE FUNCTION {schema}.counter_lock_all(
    p_namespace bigint, p_key text, p_shards integer, p_floor bigint, p_ceiling bigint, p_are_there boolean
) RETURNS integer[]
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    made   integer[] := ARRAY[]::integer[];
    is_new boolean;
BEGIN
    IF p_are_there THEN
        PERFORM FROM {schema}.counters c WHERE c.namespace = p_namespace AND c.key = p_key ORDER BY c.shard FOR UPDATE;
        RETURN made;
    END IF;
    FOR s IN 0 .. p_shards - 1 LOOP
        SELECT l.made INTO is_new FROM {schema}.counter_lock(p_namespace, p_key, s, p_shards, p_floor, p_ceiling) l;
        IF is_new THEN
            made := pg_catalog.array_append(made, s);
        END IF;
    END LOOP;
    RETURN made;
END $$;
