-- Returns the first cell of a section that ends after the hash `p_till`, or `p_count` if there is none. The section has
-- `p_count` cells.
CREATE OR REPLACE FUNCTION {schema}.bank_cell_after(p_till bigint, p_count integer) RETURNS integer
LANGUAGE sql IMMUTABLE RETURN
    CASE p_till & 36028797018963967 WHEN 36028797018963967 THEN p_count ELSE {schema}.bank_cell_of(p_till + 1, p_count) END;
