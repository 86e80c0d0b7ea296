-- IB-6, IB-8 Moves the bound of lapsed holds (`bank_lapses`) back to `p_until` if it is later. Every step that makes
-- holds with an end calls this with the earliest end, so that takers find the holds when they lapse.
-- The lock keeps out only steps that would move the bound forward before this step ends.
CREATE OR REPLACE FUNCTION {schema}.bank_hold_until(p_bank bigint, p_until timestamptz) RETURNS void
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    known timestamptz;
BEGIN
    SELECT l.since INTO known FROM {schema}.bank_lapses l WHERE l.bank = p_bank FOR KEY SHARE;
    IF NOT FOUND OR known > p_until THEN
        INSERT INTO {schema}.bank_lapses AS l VALUES (p_bank, '-infinity')
        ON CONFLICT (bank) DO UPDATE SET since = least(l.since, p_until);
    END IF;
END $$;
