-- IB-8 where to look for free items in a section with these cells, from this hash on: from the next cell that has its bit, as
-- far as cells have theirs side by side. Null if none has: what was taken there and is not vacuumed yet is passed over.
CREATE OR REPLACE FUNCTION {schema}.bank_next_range(p_cells bit varying, p_from bigint, OUT lowest bigint, OUT highest bigint)
LANGUAGE plpgsql IMMUTABLE SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    -- So many hashes are in a cell.
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
