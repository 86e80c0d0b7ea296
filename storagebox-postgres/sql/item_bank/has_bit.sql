-- Whether a section has its bit, in the row of its part.
CREATE OR REPLACE FUNCTION {schema}.bank_has_bit(p_bits bigint, p_section integer) RETURNS boolean
LANGUAGE sql IMMUTABLE RETURN (p_bits >> (p_section % 64)) & 1::bigint = 1::bigint;
