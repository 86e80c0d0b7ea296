-- D-7 Ends a lease without a result and fences its operation; idempotent.
-- D-6 An inherited fingerprint is kept, in a lapsed lease whose operation is empty: no operation has an empty id.
-- Returns aborted | fenced
CREATE OR REPLACE FUNCTION {schema}.lease_abort(
    p_namespace bigint, p_id text, p_op text, p_fence bigint, p_memory bigint
) RETURNS text
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp SET enable_seqscan = off SET lock_timeout = '3s' AS $$
DECLARE
    known record;
BEGIN
    SELECT * INTO known FROM {schema}.record_lock(p_namespace, p_id, p_memory, p_op);
    IF known.state = 'leased' AND known.fence = p_fence AND known.op = p_op THEN
        PERFORM {schema}.record_end(p_namespace, p_id, known.now);
        IF known.replaced_version IS NOT NULL THEN
            INSERT INTO {schema}.records (namespace, id, state, op, fence, fingerprint, replaced_version, until)
            VALUES (p_namespace, p_id, 'leased', '', p_fence, known.fingerprint, known.replaced_version, known.now);
        END IF;
        RETURN 'aborted';
    END IF;
    RETURN CASE WHEN known.ended THEN 'aborted' ELSE 'fenced' END;
END $$;
