-- Returns a number of microseconds as an interval. Null means for ever. There is no operator for `bigint * interval`.
CREATE OR REPLACE FUNCTION {schema}.interval_of(p_micros bigint) RETURNS interval
LANGUAGE sql IMMUTABLE RETURN p_micros::double precision * interval '1 microsecond';
