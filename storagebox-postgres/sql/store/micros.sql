-- How long it is until a later moment, in microseconds; 0 until an earlier one, null until never.
CREATE OR REPLACE FUNCTION {schema}.micros_until(p_later timestamptz, p_now timestamptz) RETURNS bigint
LANGUAGE sql IMMUTABLE RETURN
    CASE WHEN p_later > p_now THEN (extract(epoch FROM p_later - p_now) * 1000000::numeric)::bigint
         WHEN p_later IS NOT NULL THEN 0 END;
