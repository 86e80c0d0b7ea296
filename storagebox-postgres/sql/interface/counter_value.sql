-- C-6, C-7 Returns the value of a counter; 0 if nothing changed it.
CREATE OR REPLACE FUNCTION {schema}.counter_value(counters text, key text) RETURNS bigint
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp
SET row_security = off SET lock_timeout = '3s' AS $$
DECLARE
    known record;
BEGIN
    PERFORM {schema}.check_text('key', key);
    SELECT * INTO known FROM {schema}.namespace_named(
        'counters', counters, 'Marker for 604800000000 us', 604800000000
    );
    RETURN {schema}.counter_total(known.number, key);
END $$;
