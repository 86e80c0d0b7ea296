-- Returns the cell of a hash in its section, which has `p_count` cells: a power of two.
CREATE OR REPLACE FUNCTION {schema}.bank_cell_of(p_h bigint, p_count integer) RETURNS integer
LANGUAGE sql IMMUTABLE RETURN ((p_h & 36028797018963967) / (36028797018963968 / p_count))::integer;
