-- D-5, D-7, E-6 Returns the next version or fence, which is greater than all earlier ones. This holds also in a copy of
-- the tables without their sequence, such as a copy by logical replication.
-- So the number is greater than the number in the row (`p_known`, or null), and at most a minute behind the server's
-- clock in microseconds. A sequence that was reset or left behind is set to the clock, which is above all numbers that
-- were given before, including the numbers of forgotten rows.
-- One step at a time sets the sequence. Other steps do not wait for that step's lock, but try again.
CREATE OR REPLACE FUNCTION {schema}.next_number(p_known bigint) RETURNS bigint
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    number bigint := nextval('{schema}.numbers'::regclass);
    micros CONSTANT bigint := (extract(epoch FROM clock_timestamp()) * 1000000::numeric)::bigint;
    lowest CONSTANT bigint := greatest(p_known + 1, micros - 60000000);
BEGIN
    FOR attempt IN 1 .. 100 LOOP
        IF number >= lowest THEN
            RETURN number;
        END IF;
        PERFORM FROM {schema}.store s FOR UPDATE SKIP LOCKED;
        IF FOUND AND (SELECT n.last_value FROM {schema}.numbers n) < lowest THEN
            PERFORM setval('{schema}.numbers'::regclass, greatest(p_known, micros));
        ELSIF attempt > 1 THEN
            PERFORM pg_sleep(0.001);
        END IF;
        number := nextval('{schema}.numbers'::regclass);
    END LOOP;
    RAISE EXCEPTION 'another step is about to set the numbers' USING ERRCODE = '55P03';
END $$;
