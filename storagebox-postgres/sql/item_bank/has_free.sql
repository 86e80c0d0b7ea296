-- IB-04 whether an item is free, locked or not: one that stays so meanwhile is found, since its section keeps its bit.
CREATE OR REPLACE FUNCTION {schema}.bank_has_free(p_bank bigint) RETURNS boolean
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    section integer := {schema}.bank_next_section(p_bank, 0);
BEGIN
    WHILE section IS NOT NULL LOOP
        IF EXISTS (
            SELECT FROM {schema}.free_items i
            WHERE i.bank = p_bank AND i.h >= {schema}.bank_section_start(section) AND i.h <= {schema}.bank_section_end(section)
        ) THEN
            RETURN true;
        END IF;
        section := {schema}.bank_next_section(p_bank, section + 1);
    END LOOP;
    RETURN false;
END $$;
