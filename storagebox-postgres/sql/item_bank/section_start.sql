-- Returns the first hash of a section.
CREATE OR REPLACE FUNCTION {schema}.bank_section_start(p_section integer) RETURNS bigint
LANGUAGE sql IMMUTABLE RETURN (p_section - 256)::bigint << 55;
