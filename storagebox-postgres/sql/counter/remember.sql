-- C-1 stores an operation beside its effect, in place of one that is forgotten, in one statement: upkeep may remove that one
-- at any moment. Answers by how many more are stored.
CREATE OR REPLACE FUNCTION {schema}.counter_remember(
    p_namespace bigint, p_key text, p_op text, p_delta bigint, p_value bigint, p_now timestamptz, p_window boolean
) RETURNS bigint
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    is_new boolean;
BEGIN
    INSERT INTO {schema}.counter_ops AS o VALUES (p_namespace, p_key, p_op, p_delta, p_value, p_now, p_window)
    ON CONFLICT (namespace, key, op) DO UPDATE SET delta = excluded.delta, value = excluded.value, at = excluded.at
    -- What was updated bears the number of the transaction that locked it first.
    RETURNING o.xmax = 0 INTO is_new;
    RETURN CASE WHEN is_new THEN 1 ELSE 0 END;
END $$;
