-- The cell in which a hash is, of so many that its section has: a power of two.
CREATE OR REPLACE FUNCTION {schema}.bank_cell_of(p_h bigint, p_count integer) RETURNS integer
LANGUAGE sql IMMUTABLE RETURN ((p_h & 36028797018963967) / (36028797018963968 / p_count))::integer;
