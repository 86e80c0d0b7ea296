-- D-5, D-6 Begins the lease of an id for a time. `fingerprint` tells a repeated request from another request with the
-- same id.
-- Returns one row: started fence | in_flight remaining | done value version | mismatch | fenced
CREATE OR REPLACE FUNCTION {schema}.begin_lease(
    records text, id text, op text, term interval, fingerprint text DEFAULT NULL
) RETURNS TABLE (outcome text, fence bigint, remaining interval, value bytea, version bigint)
LANGUAGE plpgsql SECURITY DEFINER ROWS 1 SET search_path = pg_catalog, pg_temp
SET row_security = off SET lock_timeout = '3s' AS $$
DECLARE
    micros CONSTANT bigint := {schema}.checked_micros('term', term);
    known  record;
BEGIN
    PERFORM {schema}.check_text('id', id);
    PERFORM {schema}.check_text('op', op);
    PERFORM {schema}.check_number('term', micros);
    IF fingerprint IS NOT NULL THEN
        PERFORM {schema}.check_text('fingerprint', fingerprint);
    END IF;
    SELECT * INTO known FROM {schema}.namespace_named('records', records, '', NULL);
    SELECT replace(b.outcome, ' ', '_'), b.fence, {schema}.interval_of(b.remaining), b.value, b.version
    INTO outcome, fence, remaining, value, version
    FROM {schema}.lease_begin(known.number, id, op, micros, fingerprint, known.memory) b;
    RETURN NEXT;
END $$;
