-- D-4 Reads the record of an id.
-- Returns one row, or none if there is no record.
CREATE OR REPLACE FUNCTION {schema}.get_record(records text, id text) RETURNS TABLE (value bytea, version bigint)
LANGUAGE plpgsql SECURITY DEFINER ROWS 1 SET search_path = pg_catalog, pg_temp
SET row_security = off SET lock_timeout = '3s' AS $$
DECLARE
    known record;
BEGIN
    PERFORM {schema}.check_text('id', id);
    SELECT * INTO known FROM {schema}.namespace_named('records', records, '', NULL);
    RETURN QUERY SELECT r.value, r.version FROM {schema}.dedup_get(known.number, id) r;
END $$;
