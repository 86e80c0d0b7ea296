-- V-6 Checks a duration of the interface.
-- Returns the duration in microseconds. Null means for ever.
CREATE OR REPLACE FUNCTION {schema}.checked_micros(p_argument text, p_duration interval) RETURNS bigint
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    micros CONSTANT numeric := extract(epoch FROM p_duration) * 1000000::numeric;
BEGIN
    IF micros NOT BETWEEN 1000::numeric AND 3155760000000000::numeric THEN
        RAISE EXCEPTION '% must last 1 ms to 100 years', p_argument USING ERRCODE = 'SB005';
    END IF;
    RETURN micros::bigint;
END $$;
