-- IB-8 Clears the bit of a section none of whose cells has its bit set. The caller has locked the section's cells.
-- If another step has locked the row of `bank_sections`, the bit stays set, and takers search the section in vain.
CREATE OR REPLACE FUNCTION {schema}.bank_empty_section(p_bank bigint, p_section integer) RETURNS void
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    PERFORM FROM {schema}.bank_sections s WHERE s.bank = p_bank AND s.part = p_section / 64 FOR UPDATE SKIP LOCKED;
    IF FOUND THEN
        UPDATE {schema}.bank_sections s SET bits = s.bits & ~(1::bigint << (p_section % 64))
        WHERE s.bank = p_bank AND s.part = p_section / 64;
    END IF;
END $$;
