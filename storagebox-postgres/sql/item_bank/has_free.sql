-- IB-4 Returns whether an item is free, also if another step has locked it. An item that stays free throughout the call
-- is found, because its section and its cell keep their bits.
CREATE OR REPLACE FUNCTION {schema}.bank_has_free(p_bank bigint) RETURNS boolean
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    one     integer := {schema}.bank_next_section(p_bank, 0);
    cells   bit varying;
    run     record;
BEGIN
    WHILE one IS NOT NULL LOOP
        SELECT c.cells INTO cells FROM {schema}.bank_cells c WHERE c.bank = p_bank AND c.section = one;
        run := {schema}.bank_next_range(cells, {schema}.bank_section_start(one));
        WHILE run.lowest IS NOT NULL LOOP
            IF EXISTS (
                SELECT FROM {schema}.free_items i WHERE i.bank = p_bank AND i.h >= run.lowest AND i.h <= run.highest
            ) THEN
                RETURN true;
            END IF;
            EXIT WHEN run.highest = {schema}.bank_section_end(one);
            run := {schema}.bank_next_range(cells, run.highest + 1);
        END LOOP;
        one := {schema}.bank_next_section(p_bank, one + 1);
    END LOOP;
    RETURN false;
END $$;
