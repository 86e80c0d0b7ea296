-- J-4 Records the result of a lease. Ends the transaction (SB004) if the lease is over: what the caller did under it
-- must not be committed.
-- Returns one row: completed version | again value version
CREATE OR REPLACE FUNCTION {schema}.complete_lease(
    records text, id text, op text, fence bigint, result bytea, retention interval DEFAULT NULL
) RETURNS TABLE (outcome text, value bytea, version bigint)
LANGUAGE plpgsql SECURITY DEFINER ROWS 1 SET search_path = pg_catalog, pg_temp
SET row_security = off SET lock_timeout = '3s' AS $$
DECLARE
    keeps CONSTANT bigint := {schema}.checked_micros('retention', retention);
    known record;
BEGIN
    PERFORM {schema}.check_text('id', id);
    PERFORM {schema}.check_text('op', op);
    PERFORM {schema}.check_number('fence', fence);
    PERFORM {schema}.check_bytes('result', result);
    SELECT * INTO known FROM {schema}.namespace_named('records', records, '', NULL);
    SELECT c.outcome, c.value, c.version INTO outcome, value, version
    FROM {schema}.lease_complete_within(known.number, id, op, fence, result, keeps, known.memory) c;
    RETURN NEXT;
END $$;
