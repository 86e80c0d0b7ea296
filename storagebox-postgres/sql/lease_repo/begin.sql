-- D-5 Begins a lease. The same operation gets the same lease while it lives. Any operation may replace a lapsed lease,
-- and gets a greater fence. The lease lasts from the insert on, so that a wait does not shorten it.
-- D-6 A request with another fingerprint is a 'mismatch', also after a lapsed lease while operations are remembered:
-- the work of that lease may have had an effect. The new lease inherits the fingerprint, and stores the lapsed lease's
-- fence in `replaced_version`.
-- D-7 An operation that has ended is 'fenced'. This is read after the lock or the insert, as in `dedup_record`.
-- Returns started fence | in flight remaining | done value version | mismatch | fenced
CREATE OR REPLACE FUNCTION {schema}.lease_begin(
    p_namespace bigint, p_id text, p_op text, p_duration bigint, p_fingerprint text, p_memory bigint
) RETURNS TABLE (outcome text, fence bigint, remaining bigint, value bytea, version bigint)
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp SET enable_seqscan = off SET lock_timeout = '3s' AS $$
DECLARE
    known   record;
    lowest  bigint;
    print   text := p_fingerprint;
    heir_of bigint;
BEGIN
    PERFORM {schema}.check_isolation();
    LOOP
        INSERT INTO {schema}.records (namespace, id, state, op, fence, fingerprint, replaced_version)
        VALUES (p_namespace, p_id, 'leased', p_op, 0, print, heir_of) ON CONFLICT DO NOTHING;
        IF FOUND AND {schema}.record_has_ended(p_namespace, p_id, p_op, p_memory, {schema}.clock()) THEN
            DELETE FROM {schema}.records r WHERE r.namespace = p_namespace AND r.id = p_id;
            outcome := 'fenced';
            EXIT;
        ELSIF FOUND THEN
            -- Only after the insert, which may have waited: no smaller fence comes later, and the lease is not shorter.
            UPDATE {schema}.records r
            SET fence = {schema}.next_number(lowest), until = {schema}.clock() + {schema}.interval_of(p_duration)
            WHERE r.namespace = p_namespace AND r.id = p_id RETURNING r.fence INTO fence;
            outcome := 'started';
            EXIT;
        END IF;
        SELECT * INTO known FROM {schema}.record_lock(p_namespace, p_id, p_memory, p_op);
        lowest := greatest(known.version, known.fence);
        IF known.state = 'leased' AND known.until <= {schema}.forgotten_before(p_memory, known.now) THEN
            known.fingerprint := NULL;
        END IF;
        IF known.ended THEN
            outcome := 'fenced';
        ELSIF known.state IS NULL THEN
            CONTINUE;
        ELSIF known.fingerprint <> p_fingerprint THEN
            outcome := 'mismatch';
        ELSIF known.state = 'leased' AND known.until <= known.now THEN
            IF known.fingerprint IS NOT NULL THEN
                print := known.fingerprint;
                heir_of := known.fence;
            END IF;
            DELETE FROM {schema}.records r WHERE r.ctid = known.place;
            CONTINUE;
        ELSIF known.state = 'done' THEN
            outcome := 'done';
            value := known.value;
            version := known.version;
        ELSIF known.op = p_op THEN
            outcome := 'started';
            fence := known.fence;
        ELSE
            outcome := 'in flight';
            remaining := {schema}.micros_until(known.until, known.now);
        END IF;
        EXIT;
    END LOOP;
    RETURN NEXT;
END $$;
