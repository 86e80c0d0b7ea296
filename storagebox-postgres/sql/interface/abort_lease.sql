-- D-7 Ends a lease without a result.
-- Returns one row: aborted | fenced
CREATE OR REPLACE FUNCTION {schema}.abort_lease(records text, id text, op text, fence bigint)
RETURNS TABLE (outcome text)
LANGUAGE plpgsql SECURITY DEFINER ROWS 1 SET search_path = pg_catalog, pg_temp
SET row_security = off SET lock_timeout = '3s' AS $$
DECLARE
    known record;
BEGIN
    PERFORM {schema}.check_text('id', id);
    PERFORM {schema}.check_text('op', op);
    PERFORM {schema}.check_number('fence', fence);
    SELECT * INTO known FROM {schema}.namespace_named('records', records, '', NULL);
    outcome := {schema}.lease_abort(known.number, id, op, fence, known.memory);
    RETURN NEXT;
END $$;
