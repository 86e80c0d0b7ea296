-- C-01 stores an operation beside its effect, in place of one that is forgotten. Answers by how many more are stored.
CREATE OR REPLACE FUNCTION {schema}.counter_remember(
    p_box bigint, p_key text, p_op text, p_delta bigint, p_value bigint, p_now timestamptz, p_window boolean
) RETURNS bigint
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    INSERT INTO {schema}.counter_ops VALUES (p_box, p_key, p_op, p_delta, p_value, p_now, p_window) ON CONFLICT DO NOTHING;
    IF FOUND THEN
        RETURN 1;
    END IF;
    UPDATE {schema}.counter_ops o SET delta = p_delta, value = p_value, at = p_now
    WHERE o.box = p_box AND o.key = p_key AND o.op = p_op;
    RETURN 0;
END $$;
