-- Takes its bit from a section whose cells have none, and which the caller has locked. Where another changes the bits of the
-- sections beside it, it keeps it, and takers look at its cells in vain.
CREATE OR REPLACE FUNCTION {schema}.bank_empty_section(p_bank bigint, p_section integer) RETURNS void
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    PERFORM FROM {schema}.bank_sections s WHERE s.bank = p_bank AND s.part = p_section / 64 FOR UPDATE SKIP LOCKED;
    IF FOUND THEN
        UPDATE {schema}.bank_sections s SET bits = s.bits & ~(1::bigint << (p_section % 64))
        WHERE s.bank = p_bank AND s.part = p_section / 64;
    END IF;
END $$;
