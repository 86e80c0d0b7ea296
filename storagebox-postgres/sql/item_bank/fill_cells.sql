-- IB-8 Sets the bits of the cells of these hashes, which are all in one section. A new section has one cell.
CREATE OR REPLACE FUNCTION {schema}.bank_fill_cells(p_bank bigint, p_section integer, p_hs bigint[]) RETURNS void
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    known bit varying;
    one   bigint;
BEGIN
    INSERT INTO {schema}.bank_cells VALUES (p_bank, p_section, B'1') ON CONFLICT DO NOTHING;
    IF FOUND THEN
        RETURN;
    END IF;
    SELECT c.cells INTO known FROM {schema}.bank_cells c WHERE c.bank = p_bank AND c.section = p_section FOR NO KEY UPDATE;
    FOREACH one IN ARRAY p_hs LOOP
        known := set_bit(known, {schema}.bank_cell_of(one, length(known)), 1);
    END LOOP;
    UPDATE {schema}.bank_cells c SET cells = known WHERE c.bank = p_bank AND c.section = p_section;
END $$;
