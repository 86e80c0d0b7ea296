-- Returns the last hash of the cell of `p_h`. Its section has `p_count` cells.
CREATE OR REPLACE FUNCTION {schema}.bank_cell_till(p_h bigint, p_count integer) RETURNS bigint
LANGUAGE sql IMMUTABLE RETURN p_h | (36028797018963968 / p_count - 1);
