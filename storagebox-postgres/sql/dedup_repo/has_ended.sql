-- D-7 Returns whether an operation has ended and is still remembered. The caller has locked or inserted the id's
-- record, if there is one.
CREATE OR REPLACE FUNCTION {schema}.record_has_ended(
    p_namespace bigint, p_id text, p_op text, p_memory bigint, p_now timestamptz
) RETURNS boolean
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    RETURN coalesce((
        SELECT e.since FROM {schema}.ended_ops e WHERE e.namespace = p_namespace AND e.id = p_id AND e.op = p_op
    ) > {schema}.forgotten_before(p_memory, p_now), false);
END $$;
