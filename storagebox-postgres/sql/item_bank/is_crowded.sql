-- Whether there are more free items in the cell of this hash, of so many that its section has, than takers shall cross when
-- they are gone.
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
