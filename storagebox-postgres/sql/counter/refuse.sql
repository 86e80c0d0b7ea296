-- ER-5 Refuses a repeated attempt of an operation that is not remembered as applied or cancelled, and makes its call
-- void in the same step. The caller has locked the shard, under which every attempt reads what is remembered: an
-- attempt that was in progress has either applied the operation, which the caller has seen, or will find its call void.
-- The row is not counted in a window.
-- Returns the refusal, or 'open' if the operation has as many void calls as an operation may have.
CREATE OR REPLACE FUNCTION {schema}.counter_refuse(
    p_namespace bigint, p_key text, p_op text, p_call bigint, p_refusal text, p_now timestamptz, p_forgotten timestamptz
) RETURNS text
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    calls text[];
BEGIN
    SELECT o.void_calls[2:] INTO calls FROM {schema}.counter_ops o
    WHERE o.namespace = p_namespace AND o.key = p_key AND o.op = p_op AND o.at > p_forgotten;
    IF p_call::text = ANY (calls) THEN
        RETURN p_refusal;
    ELSIF pg_catalog.cardinality(calls) >= 16 THEN
        RETURN 'open';
    END IF;
    calls := pg_catalog.array_append(pg_catalog.array_cat(ARRAY[p_refusal], calls), p_call::text);
    INSERT INTO {schema}.counter_ops AS o VALUES (p_namespace, p_key, p_op, NULL, NULL, p_now, false, calls)
    ON CONFLICT (namespace, key, op) DO UPDATE
    SET delta = NULL, value = NULL, at = excluded.at, window_of_key = false, void_calls = excluded.void_calls;
    RETURN p_refusal;
END $$;
