-- IB-08 what every step does that puts items among the free ones, after it put them there: their sections have their bits
-- from then on, until nobody who looks finds one. The lock keeps out whoever would take a bit away before this step ends, and
-- nobody else. The items stand in the order of their hashes, so all lock in one order.
CREATE OR REPLACE FUNCTION {schema}.bank_fill_sections(p_bank bigint, p_hs bigint[]) RETURNS void
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    one   record;
    known bigint;
BEGIN
    PERFORM {schema}.check_isolation();
    FOR one IN
        SELECT u.section / 64 AS part, bit_or(1::bigint << (u.section % 64)) AS bits
        FROM (SELECT {schema}.bank_section_of(h) AS section FROM pg_catalog.unnest(p_hs) h) u GROUP BY 1 ORDER BY 1
    LOOP
        SELECT s.bits INTO known FROM {schema}.bank_sections s WHERE s.bank = p_bank AND s.part = one.part FOR KEY SHARE;
        IF NOT FOUND OR known & one.bits <> one.bits THEN
            INSERT INTO {schema}.bank_sections AS s VALUES (p_bank, one.part, one.bits)
            ON CONFLICT (bank, part) DO UPDATE SET bits = s.bits | excluded.bits;
        END IF;
    END LOOP;
END $$;
