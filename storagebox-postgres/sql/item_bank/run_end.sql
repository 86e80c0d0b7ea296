-- Up to where to look from there on: as many cells as lie side by side and have their bits.
CREATE OR REPLACE FUNCTION {schema}.bank_run_end(p_cells bit varying, p_start bigint) RETURNS bigint
LANGUAGE sql IMMUTABLE RETURN {schema}.bank_cell_end(
    {schema}.bank_section_of(p_start),
    {schema}.bank_next_cell(p_cells, {schema}.bank_cell_of(p_start, length(p_cells)), B'0') - 1, length(p_cells)
);
