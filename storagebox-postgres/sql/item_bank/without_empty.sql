-- The bits of a section's cells, without those in which there is no item, of the cells from this hash on that end by the other.
-- The caller has locked them.
CREATE OR REPLACE FUNCTION {schema}.bank_without_empty(
    p_bank bigint, p_cells bit varying, p_from bigint, p_till bigint
) RETURNS bit varying
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    section CONSTANT integer := {schema}.bank_section_of(p_from);
    count   CONSTANT integer := length(p_cells);
    cells   bit varying := p_cells;
BEGIN
    FOR cell IN {schema}.bank_cell_of(p_from, count) .. {schema}.bank_cell_after(p_till, count) - 1 LOOP
        IF get_bit(cells, cell) = 1 AND NOT EXISTS (
            SELECT FROM {schema}.free_items i
            WHERE i.bank = p_bank AND i.h >= {schema}.bank_cell_start(section, cell, count)
              AND i.h <= {schema}.bank_cell_end(section, cell, count)
        ) THEN
            cells := set_bit(cells, cell, 0);
        END IF;
    END LOOP;
    RETURN cells;
END $$;
