-- IB-8 Returns whether the cell of a hash is to be split: it has more than 16 free items, whose dead rows takers would
-- scan later, and its section has fewer than 4096 cells (`p_count`).
CREATE OR REPLACE FUNCTION {schema}.bank_is_crowded(p_bank bigint, p_h bigint, p_count integer) RETURNS boolean
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    section CONSTANT integer := {schema}.bank_section_of(p_h);
    cell    CONSTANT integer := {schema}.bank_cell_of(p_h, p_count);
BEGIN
    RETURN p_count < 4096 AND (SELECT count(*) FROM (
        SELECT FROM {schema}.free_items i
        WHERE i.bank = p_bank AND i.h >= {schema}.bank_cell_start(section, cell, p_count)
          AND i.h <= {schema}.bank_cell_end(section, cell, p_count) LIMIT 17
    ) few) > 16::bigint;
END $$;
