-- C-1 Stores an operation, in the transaction of its effect. Replaces a forgotten operation with the same id in the
-- same statement, because upkeep may delete that operation at any moment.
-- ER-5 Also replaces the void calls of an operation that was only refused: from now on, the operation itself is known
-- to all attempts. The lock of the shard keeps out a refusal that would add a call meanwhile.
-- Returns 1, or 0 if it replaced an operation.
CREATE OR REPLACE FUNCTION {schema}.counter_remember(
    p_namespace bigint, p_key text, p_op text, p_delta bigint, p_value bigint, p_now timestamptz, p_window boolean
) RETURNS bigint
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    is_new boolean;
BEGIN
    INSERT INTO {schema}.counter_ops AS o VALUES (p_namespace, p_key, p_op, p_delta, p_value, p_now, p_window)
    ON CONFLICT (namespace, key, op) DO UPDATE SET delta = excluded.delta, value = excluded.value, at = excluded.at
    WHERE o.void_calls IS NULL
    -- `xmax` is 0 in an inserted row. In an updated row it is the transaction that locked the row.
    RETURNING o.xmax = 0 INTO is_new;
    IF NOT FOUND THEN
        UPDATE {schema}.counter_ops o
        SET delta = p_delta, value = p_value, at = p_now, window_of_key = p_window, void_calls = NULL
        WHERE o.namespace = p_namespace AND o.key = p_key AND o.op = p_op;
        RETURN 1;
    END IF;
    RETURN CASE WHEN is_new THEN 1 ELSE 0 END;
END $$;
