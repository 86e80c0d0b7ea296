-- IB-8 Clears the bits of cells without an item: from the cell of `p_from` to the last cell that ends by `p_till`. The
-- caller has locked the cells. Searches neighbouring cells together, up to the first item.
-- Returns the bits of the section's cells.
CREATE OR REPLACE FUNCTION {schema}.bank_without_empty(
    p_bank bigint, p_cells bit varying, p_from bigint, p_till bigint
) RETURNS bit varying
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    section CONSTANT integer := {schema}.bank_section_of(p_from);
    count   CONSTANT integer := length(p_cells);
    after   CONSTANT integer := {schema}.bank_cell_after(p_till, count);
    cells   bit varying := p_cells;
    cell    integer := {schema}.bank_next_cell(p_cells, {schema}.bank_cell_of(p_from, count), B'1');
    stop    integer;
    found_h bigint;
BEGIN
    WHILE cell < after LOOP
        stop := least({schema}.bank_next_cell(cells, cell, B'0'), after);
        SELECT i.h INTO found_h FROM {schema}.free_items i
        WHERE i.bank = p_bank AND i.h >= {schema}.bank_cell_start(section, cell, count)
          AND i.h <= {schema}.bank_cell_end(section, stop - 1, count) ORDER BY i.h LIMIT 1;
        IF FOUND THEN
            stop := {schema}.bank_cell_of(found_h, count);
        END IF;
        IF stop > cell THEN
            cells := overlay(cells PLACING repeat('0', stop - cell)::bit varying FROM cell + 1);
        END IF;
        cell := {schema}.bank_next_cell(cells, stop + 1, B'1');
    END LOOP;
    RETURN cells;
END $$;
