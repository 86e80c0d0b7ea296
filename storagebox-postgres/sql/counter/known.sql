-- What is remembered of an operation, asked after its counter was locked.
-- C-03 applied value, as it was stored with the operation; C-05 mismatch; C-08 fenced. Null if nothing is.
CREATE OR REPLACE FUNCTION {schema}.counter_known(
    p_box bigint, p_key text, p_op text, p_delta bigint, p_forgotten timestamptz, OUT outcome text, OUT value bigint
)
LANGUAGE plpgsql AS $$
DECLARE
    delta bigint;
BEGIN
    SELECT o.delta, o.value INTO delta, value FROM {schema}.counter_ops o
    WHERE o.box = p_box AND o.key = p_key AND o.op = p_op AND o.at > p_forgotten;
    IF FOUND THEN
        outcome := CASE WHEN delta IS NULL THEN 'fenced' WHEN delta <> p_delta THEN 'mismatch' ELSE 'already' END;
    END IF;
END $$;
