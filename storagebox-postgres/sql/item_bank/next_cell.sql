-- Returns the first cell from `p_from` on whose bit is `p_bit`, or the number of cells if there is none.
CREATE OR REPLACE FUNCTION {schema}.bank_next_cell(p_cells bit varying, p_from integer, p_bit bit) RETURNS integer
LANGUAGE sql IMMUTABLE RETURN
    CASE position(p_bit IN substring(p_cells FROM p_from + 1)) WHEN 0 THEN length(p_cells)
         ELSE p_from + position(p_bit IN substring(p_cells FROM p_from + 1)) - 1 END;
