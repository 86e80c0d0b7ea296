-- IB-04 whether an item is free, locked or not: one that stays so meanwhile is found, since its section and its cell keep
-- their bits.
CREATE OR REPLACE FUNCTION {schema}.bank_has_free(p_bank bigint) RETURNS boolean
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    section integer := {schema}.bank_next_section(p_bank, 0);
    run     record;
BEGIN
    WHILE section IS NOT NULL LOOP
        SELECT * INTO run FROM {schema}.bank_run(p_bank, {schema}.bank_section_start(section));
        WHILE run.lowest IS NOT NULL LOOP
            IF EXISTS (
                SELECT FROM {schema}.free_items i WHERE i.bank = p_bank AND i.h >= run.lowest AND i.h <= run.highest
            ) THEN
                RETURN true;
            END IF;
            EXIT WHEN run.highest = {schema}.bank_section_end(section);
            SELECT * INTO run FROM {schema}.bank_run(p_bank, run.highest + 1);
        END LOOP;
        section := {schema}.bank_next_section(p_bank, section + 1);
    END LOOP;
    RETURN false;
END $$;
