-- D-4, D-7 Locks the record of an id, then reads the clock and judges the record by it. Deletes an expired record, and
-- fences its operation from now on.
-- Returns the record, the clock, and whether `p_op` has ended. The state is null if there is no record.
CREATE OR REPLACE FUNCTION {schema}.record_lock(
    p_namespace bigint, p_id text, p_memory bigint, p_op text,
    OUT place tid, OUT state text, OUT op text, OUT value bytea, OUT version bigint, OUT fence bigint,
    OUT fingerprint text, OUT replaced_by text, OUT replaced_version bigint, OUT until timestamptz,
    OUT now timestamptz, OUT ended boolean
)
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    SELECT r.ctid, r.state, r.op, r.value, r.version, r.fence, r.fingerprint, r.replaced_by, r.replaced_version, r.until
    INTO place, state, op, value, version, fence, fingerprint, replaced_by, replaced_version, until
    FROM {schema}.records r WHERE r.namespace = p_namespace AND r.id = p_id FOR UPDATE;
    -- No call writes such a row. Callers would retry for ever, or replace it.
    IF FOUND AND (state = 'done' OR state = 'leased' AND until IS NOT NULL) IS NOT TRUE THEN
        RAISE EXCEPTION 'a record is neither done nor leased' USING ERRCODE = 'data_corrupted';
    END IF;
    now := {schema}.clock();
    IF state = 'done' AND until <= now THEN
        PERFORM {schema}.record_end(p_namespace, p_id, now);
        state := NULL;
    END IF;
    ended := {schema}.record_has_ended(p_namespace, p_id, p_op, p_memory, now);
END $$;
