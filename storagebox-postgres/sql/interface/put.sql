-- O-1 to O-4 Writes the value of a key, unless the key has a newer write. `at` and `writer` are the stamp.
-- Returns one row: applied | stale current_at current_writer | duplicate | mismatch | too_old horizon
CREATE OR REPLACE FUNCTION {schema}.put(ordered text, key text, value bytea, at bigint, writer text)
RETURNS TABLE (outcome text, current_at bigint, current_writer text, horizon bigint)
LANGUAGE plpgsql SECURITY DEFINER ROWS 1 SET search_path = pg_catalog, pg_temp
SET row_security = off SET lock_timeout = '3s' AS $$
BEGIN
    PERFORM {schema}.check_bytes('value', value);
    RETURN QUERY SELECT * FROM {schema}.write_ordered(ordered, key, value, at, writer);
END $$;
