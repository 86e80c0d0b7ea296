-- C-1 Stores an operation, in the transaction of its effect. Replaces a forgotten operation with the same id in the
-- same statement, because upkeep may delete that operation at any moment.
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
    -- `xmax` is 0 in an inserted row. In an updated row it is the transaction that locked the row.
    RETURNING o.xmax = 0 INTO is_new;
    RETURN CASE WHEN is_new THEN 1 ELSE 0 END;
END $$;
