-- The next version or fence: greater than all before it (D-5, D-7, E-6), also where a copy of the tables lacks their sequence, as
-- one by logical replication does. So it is greater than what the row holds (`p_known`; null if there is none), and the
-- sequence is never more than a minute behind the server's clock, in microseconds: a sequence that begins anew, or that was left
-- behind, is set to now, ahead of what was given before, also to rows that are forgotten. One step at a time does so, and the others
-- wait for nobody.
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
