-- Returns the section of a hash: 0 to 511, in the order of the hashes.
CREATE OR REPLACE FUNCTION {schema}.bank_section_of(p_h bigint) RETURNS integer
LANGUAGE sql IMMUTABLE RETURN (p_h >> 55)::integer + 256;
