-- O-1 to O-4 Deletes the value of a key, unless the key has a newer write, and leaves a tombstone.
-- Returns one row, as `put` does.
CREATE OR REPLACE FUNCTION {schema}.delete(ordered text, key text, at bigint, writer text)
RETURNS TABLE (outcome text, current_at bigint, current_writer text, horizon bigint)
LANGUAGE plpgsql SECURITY DEFINER ROWS 1 SET search_path = pg_catalog, pg_temp
SET row_security = off SET lock_timeout = '3s' AS $$
BEGIN
    RETURN QUERY SELECT * FROM {schema}.write_ordered(ordered, key, NULL, at, writer);
END $$;
