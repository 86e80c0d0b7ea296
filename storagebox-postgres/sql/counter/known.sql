-- C-3, C-5, C-8 Reads what is remembered of an operation. The caller has locked the shard, or has read a total that it
-- refuses.
-- Returns already value (as it was stored) | mismatch | fenced, or nulls.
CREATE OR REPLACE FUNCTION {schema}.counter_known(
    p_namespace bigint, p_key text, p_op text, p_delta bigint, p_forgotten timestamptz, OUT outcome text, OUT value bigint
)
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    known record;
BEGIN
    SELECT o.delta, o.value, o.at INTO known FROM {schema}.counter_ops o
    WHERE o.namespace = p_namespace AND o.key = p_key AND o.op = p_op;
    IF known.at > p_forgotten THEN
        value := known.value;
        outcome := CASE WHEN known.delta IS NULL THEN 'fenced' WHEN known.delta <> p_delta THEN 'mismatch' ELSE 'already' END;
    END IF;
END $$;
