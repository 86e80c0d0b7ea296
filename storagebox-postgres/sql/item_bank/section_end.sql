-- Returns the last hash of a section.
CREATE OR REPLACE FUNCTION {schema}.bank_section_end(p_section integer) RETURNS bigint
LANGUAGE sql IMMUTABLE RETURN {schema}.bank_section_start(p_section) | 36028797018963967;
