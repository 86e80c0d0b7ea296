-- O-3 Reads the value of a key with its stamp.
-- Returns one row, or none if there is no value.
CREATE OR REPLACE FUNCTION {schema}.get_value(ordered text, key text)
RETURNS TABLE (value bytea, at bigint, writer text)
LANGUAGE plpgsql SECURITY DEFINER ROWS 1 SET search_path = pg_catalog, pg_temp
SET row_security = off SET lock_timeout = '3s' AS $$
DECLARE
    known record;
BEGIN
    PERFORM {schema}.check_text('key', key);
    SELECT * INTO known FROM {schema}.namespace_named(
        'ordered', ordered, 'time stamps, tombstones for 604800000000 us', 604800000000
    );
    RETURN QUERY SELECT v.value, v.at, v.writer FROM {schema}.ordered_get(known.number, key) v;
END $$;
