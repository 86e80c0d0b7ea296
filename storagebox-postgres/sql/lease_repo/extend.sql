-- D-5 Extends a lease, unless another lease has begun since. Never shortens it.
-- Returns extended | fenced
CREATE OR REPLACE FUNCTION {schema}.lease_extend(
    p_namespace bigint, p_id text, p_op text, p_fence bigint, p_duration bigint, p_memory bigint
) RETURNS text
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp SET enable_seqscan = off SET lock_timeout = '3s' AS $$
DECLARE
    known record;
BEGIN
    SELECT * INTO known FROM {schema}.record_lock(p_namespace, p_id, p_memory, p_op);
    IF known.state = 'leased' AND known.fence = p_fence AND known.op = p_op THEN
        UPDATE {schema}.records r
        SET until = greatest(r.until, known.now + {schema}.interval_of(p_duration))
        WHERE r.ctid = known.place;
        RETURN 'extended';
    END IF;
    RETURN 'fenced';
END $$;
