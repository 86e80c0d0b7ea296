-- D-7 Deletes the record of an id and fences its operation. The caller has locked the record.
CREATE OR REPLACE FUNCTION {schema}.record_end(p_namespace bigint, p_id text, p_now timestamptz) RETURNS void
LANGUAGE sql SET search_path = pg_catalog, pg_temp AS $$
    WITH gone AS (
        DELETE FROM {schema}.records r WHERE r.namespace = p_namespace AND r.id = p_id RETURNING r.op
    )
    INSERT INTO {schema}.ended_ops AS e SELECT p_namespace, p_id, g.op, p_now FROM gone g
    ON CONFLICT (namespace, id, op) DO UPDATE SET since = excluded.since
$$;
