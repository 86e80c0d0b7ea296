-- The section of a bank in which a hash is: one of 512, from 0, in the order of the hashes.
CREATE OR REPLACE FUNCTION {schema}.bank_section_of(p_h bigint) RETURNS integer
LANGUAGE sql IMMUTABLE RETURN (p_h >> 55)::integer + 256;
