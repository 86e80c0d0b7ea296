-- D-5 Records the result of a lease, unless another lease has begun since. A retry gets 'again' and the record.
-- Returns completed version | again value version | fenced
CREATE OR REPLACE FUNCTION {schema}.lease_complete(
    p_namespace bigint, p_id text, p_op text, p_fence bigint, p_value bytea, p_retention bigint, p_memory bigint
) RETURNS TABLE (outcome text, value bytea, version bigint)
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp SET enable_seqscan = off SET lock_timeout = '3s' AS $$
DECLARE
    known record;
BEGIN
    SELECT * INTO known FROM {schema}.record_lock(p_namespace, p_id, p_memory, p_op);
    outcome := 'fenced';
    IF known.state = 'done' AND known.fence = p_fence THEN
        outcome := 'again';
        value := known.value;
        version := known.version;
    ELSIF known.state = 'leased' AND known.fence = p_fence AND known.op = p_op THEN
        outcome := 'completed';
        version := {schema}.next_number(known.fence);
        UPDATE {schema}.records r
        SET state = 'done', value = p_value, version = lease_complete.version, replaced_version = NULL,
            until = known.now + {schema}.interval_of(p_retention)
        WHERE r.ctid = known.place;
    END IF;
    RETURN NEXT;
END $$;
