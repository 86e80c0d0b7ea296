-- IB-8 Returns the next range of hashes, from `p_from` on, that may have free items: neighbouring cells with their bits
-- set. Takers skip all other cells, whose dead rows may not be vacuumed yet.
-- Returns nulls if there are none.
CREATE OR REPLACE FUNCTION {schema}.bank_next_range(p_cells bit varying, p_from bigint, OUT lowest bigint, OUT highest bigint)
LANGUAGE plpgsql IMMUTABLE SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    -- The number of hashes in a cell.
    size  CONSTANT bigint := 36028797018963968 / length(p_cells);
    cell  CONSTANT bigint := p_from & -size;
    ahead CONSTANT bit varying := substring(p_cells FROM ((p_from & 36028797018963967) / size)::integer + 1);
    first CONSTANT integer := position(B'1' IN ahead) - 1;
    after CONSTANT integer := position(B'0' IN substring(ahead FROM first + 1)) - 1;
BEGIN
    IF first >= 0 THEN
        lowest := greatest(p_from, cell + first * size);
        highest := CASE after WHEN -1 THEN p_from | 36028797018963967 ELSE cell + (first + after) * size - 1 END;
    END IF;
END $$;
