-- How long it is until a later moment, in microseconds; 0 until an earlier one.
CREATE OR REPLACE FUNCTION {schema}.micros_until(p_later timestamptz, p_now timestamptz) RETURNS bigint
LANGUAGE sql IMMUTABLE AS 'SELECT greatest(0, (extract(epoch FROM p_later - p_now) * 1000000)::bigint)';
