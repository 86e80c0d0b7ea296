-- The last hash of the cells that are emptied together with the one of this hash, of so many that its section has: eight, side by
-- side.
CREATE OR REPLACE FUNCTION {schema}.bank_group_end(p_h bigint, p_count integer) RETURNS bigint
LANGUAGE sql IMMUTABLE RETURN p_h | ((8 * (36028797018963968 / p_count) - 1) & 36028797018963967);
