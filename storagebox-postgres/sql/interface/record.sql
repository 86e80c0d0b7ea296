-- D-1 to D-4, D-7 Records a value for an id, unless the id has one. `op` names the operation, so that a retry is
-- recognised.
-- Returns one row: new version | again value version | existing value version | in_flight remaining | fenced
CREATE OR REPLACE FUNCTION {schema}.record(
    records text, id text, payload bytea, op text, retention interval DEFAULT NULL
) RETURNS TABLE (outcome text, value bytea, version bigint, remaining interval)
LANGUAGE plpgsql SECURITY DEFINER ROWS 1 SET search_path = pg_catalog, pg_temp
SET row_security = off SET lock_timeout = '3s' AS $$
DECLARE
    keeps CONSTANT bigint := {schema}.checked_micros('retention', retention);
    known record;
    entry record;
BEGIN
    PERFORM {schema}.check_text('id', id);
    PERFORM {schema}.check_bytes('payload', payload);
    PERFORM {schema}.check_text('op', op);
    SELECT * INTO known FROM {schema}.namespace_named('records', records, '', NULL);
    SELECT * INTO entry
    FROM {schema}.dedup_record(known.number, ARRAY[id], ARRAY[payload], ARRAY[op], ARRAY[keeps], known.memory);
    outcome := replace(entry.outcome, ' ', '_');
    IF outcome = 'in_flight' THEN
        remaining := {schema}.interval_of(entry.remaining);
    ELSIF outcome <> 'fenced' THEN
        value := entry.value;
        version := entry.version;
    END IF;
    RETURN NEXT;
END $$;
