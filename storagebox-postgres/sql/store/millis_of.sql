-- Returns a moment in whole milliseconds since 1970, the unit of time stamps.
CREATE OR REPLACE FUNCTION {schema}.millis_of(p_moment timestamptz) RETURNS bigint
LANGUAGE sql IMMUTABLE RETURN floor(extract(epoch FROM p_moment) * 1000::numeric)::bigint;
