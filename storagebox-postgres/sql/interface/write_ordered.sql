-- O-1 to O-5 Writes a value, or deletes it if `p_value` is null, by the options with which the namespace was created.
-- Returns one row, as `put` does.
CREATE OR REPLACE FUNCTION {schema}.write_ordered(
    p_ordered text, p_key text, p_value bytea, p_at bigint, p_writer text
) RETURNS TABLE (outcome text, current_at bigint, current_writer text, horizon bigint)
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    week  CONSTANT bigint := 604800000000;
    day   CONSTANT bigint := 86400000;
    known record;
    wrote record;
BEGIN
    PERFORM {schema}.check_text('key', p_key);
    PERFORM {schema}.check_number('at', p_at);
    PERFORM {schema}.check_text('writer', p_writer);
    SELECT * INTO known FROM {schema}.namespace_named(
        'ordered', p_ordered, 'time stamps, tombstones for 604800000000 us', week
    );
    -- Sequence numbers have no upkeep, so nothing says for how long their tombstones are kept.
    SELECT * INTO wrote FROM {schema}.ordered_write(
        known.number, ARRAY[p_key], ARRAY[p_at], ARRAY[p_writer], ARRAY[p_value], known.keeps IS NOT NULL, day,
        known.keeps / 1000
    );
    IF wrote.outcome = 'ahead' THEN
        RAISE EXCEPTION 'at is more than a day ahead of the clock of the store; it is in milliseconds since 1970'
            USING ERRCODE = 'SB005';
    END IF;
    outcome := replace(wrote.outcome, ' ', '_');
    current_at := CASE wrote.outcome WHEN 'stale' THEN wrote.at END;
    current_writer := wrote.writer;
    horizon := CASE wrote.outcome WHEN 'too old' THEN wrote.at END;
    RETURN NEXT;
END $$;
