-- D-7 whether the operation is over, as far as that is still remembered. Asked after the id's record was locked or made.
CREATE OR REPLACE FUNCTION {schema}.record_has_ended(
    p_namespace bigint, p_id text, p_op text, p_memory bigint, p_now timestamptz
) RETURNS boolean
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    RETURN coalesce((
        SELECT e.since FROM {schema}.ended_ops e WHERE e.namespace = p_namespace AND e.id = p_id AND e.op = p_op
    ) > {schema}.forgotten_before(p_memory, p_now), false);
END $$;
