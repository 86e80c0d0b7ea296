-- IB-8 Moves the bound of lapsed holds (`bank_lapses`) forward, so that takers skip the dead rows of holds that have
-- ended: to the end of the first hold that is still there, or to `p_asked`, because no new hold ends before that.
-- A row whose change is not committed counts as still there. If another step has locked the bound, the bound stays.
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
