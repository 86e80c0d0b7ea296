-- C-3, C-5, C-8 Reads what is remembered of an operation. The caller has locked the shard, or has read a total that it
-- refuses.
-- ER-5 An operation that was only refused is known only to the attempts of its void calls (`p_call`).
-- Returns already value (as it was stored) | mismatch | fenced | the refusal of a void call, or nulls.
CREATE OR REPLACE FUNCTION {schema}.counter_known(
    p_namespace bigint, p_key text, p_op text, p_call bigint, p_delta bigint, p_forgotten timestamptz,
    OUT outcome text, OUT value bigint
)
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    known record;
BEGIN
    SELECT o.delta, o.value, o.at, o.void_calls INTO known FROM {schema}.counter_ops o
    WHERE o.namespace = p_namespace AND o.key = p_key AND o.op = p_op;
    IF known.at > p_forgotten AND known.void_calls IS NOT NULL THEN
        outcome := CASE WHEN p_call::text = ANY (known.void_calls[2:]) THEN known.void_calls[1] END;
    ELSIF known.at > p_forgotten THEN
        value := known.value;
        outcome := CASE WHEN known.delta IS NULL THEN 'fenced' WHEN known.delta <> p_delta THEN 'mismatch' ELSE 'already' END;
    END IF;
END $$;
