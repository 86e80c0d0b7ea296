-- Returns the last hash of a cell. Its section has `p_count` cells.
CREATE OR REPLACE FUNCTION {schema}.bank_cell_end(p_section integer, p_cell integer, p_count integer) RETURNS bigint
LANGUAGE sql IMMUTABLE RETURN {schema}.bank_cell_start(p_section, p_cell, p_count) + (36028797018963968 / p_count - 1);
