-- IB-8 lets takers pass over the holds that have ended, one way or another, and are not vacuumed yet: up to the first that is
-- still there, also one whose taker may yet give it back, and no further than the moment `p_asked`, before which nobody can make
-- a hold that ends. It waits for nobody.
CREATE OR REPLACE FUNCTION {schema}.bank_advance_lapse_bound(p_bank bigint, p_asked timestamptz) RETURNS void
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    known timestamptz;
    first timestamptz;
BEGIN
    SELECT l.since INTO known FROM {schema}.bank_lapses l WHERE l.bank = p_bank FOR UPDATE SKIP LOCKED;
    IF FOUND THEN
        SELECT c.until INTO first FROM {schema}.claims c
        WHERE c.bank = p_bank AND c.until >= known AND c.until <= p_asked ORDER BY c.until LIMIT 1;
        UPDATE {schema}.bank_lapses l SET since = greatest(known, coalesce(first, p_asked)) WHERE l.bank = p_bank;
    END IF;
END $$;
