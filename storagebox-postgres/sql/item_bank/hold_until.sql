-- IB-6, IB-8 what every step does that makes a hold which ends, the first of them then: takers look for lapsed holds from
-- `since` on, and find it. The lock keeps out only a step that would pass over holds before this one ends.
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
