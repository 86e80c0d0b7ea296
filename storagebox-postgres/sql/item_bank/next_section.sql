-- IB-8 Returns the first section, from `p_from` on, whose bit is set, or null. Takers skip all other sections: these
-- have no free items, and their dead rows may not be vacuumed yet.
CREATE OR REPLACE FUNCTION {schema}.bank_next_section(p_bank bigint, p_from integer) RETURNS integer
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    one  record;
    bits bigint;
BEGIN
    FOR one IN
        SELECT s.part, s.bits FROM {schema}.bank_sections s WHERE s.bank = p_bank AND s.part >= p_from / 64 ORDER BY s.part
    LOOP
        bits := one.bits;
        IF one.part = p_from / 64 THEN
            bits := bits & ((-1)::bigint << (p_from % 64));
        END IF;
        IF bits <> 0::bigint THEN
            -- The lowest bit that is set.
            RETURN one.part * 64 + pg_catalog.strpos(pg_catalog.reverse(bits::bit(64)::text), '1') - 1;
        END IF;
    END LOOP;
    RETURN NULL;
END $$;
