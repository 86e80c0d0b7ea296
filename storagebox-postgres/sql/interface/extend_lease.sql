-- D-5 Extends a lease from now on; never shortens it.
-- Returns one row: extended | fenced
CREATE OR REPLACE FUNCTION {schema}.extend_lease(records text, id text, op text, fence bigint, term interval)
RETURNS TABLE (outcome text)
LANGUAGE plpgsql SECURITY DEFINER ROWS 1 SET search_path = pg_catalog, pg_temp
SET row_security = off SET lock_timeout = '3s' AS $$
DECLARE
    micros CONSTANT bigint := {schema}.checked_micros('term', term);
    known  record;
BEGIN
    PERFORM {schema}.check_text('id', id);
    PERFORM {schema}.check_text('op', op);
    PERFORM {schema}.check_number('fence', fence);
    PERFORM {schema}.check_number('term', micros);
    SELECT * INTO known FROM {schema}.namespace_named('records', records, '', NULL);
    outcome := {schema}.lease_extend(known.number, id, op, fence, micros, known.memory);
    RETURN NEXT;
END $$;
