-- The last hash of the cell in which a hash is, of so many that its section has.
CREATE OR REPLACE FUNCTION {schema}.bank_cell_till(p_h bigint, p_count integer) RETURNS bigint
LANGUAGE sql IMMUTABLE RETURN p_h | (36028797018963968 / p_count - 1);
