-- IB-08 where to look for free items in a section with these cells, from this hash on: at the next cell that has its bit. Null
-- if none has: what was taken there and is not vacuumed yet is passed over.
CREATE OR REPLACE FUNCTION {schema}.bank_run_start(p_cells bit varying, p_from bigint) RETURNS bigint
LANGUAGE sql IMMUTABLE RETURN
    CASE WHEN {schema}.bank_next_cell(p_cells, {schema}.bank_cell_of(p_from, length(p_cells)), B'1') < length(p_cells)
    THEN greatest(p_from, {schema}.bank_cell_start(
        {schema}.bank_section_of(p_from),
        {schema}.bank_next_cell(p_cells, {schema}.bank_cell_of(p_from, length(p_cells)), B'1'), length(p_cells)
    )) END;
