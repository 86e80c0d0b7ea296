-- How long it is until a later moment, in microseconds; 0 until an earlier one, null until never. No call writes a moment that is
-- infinitely far away: it is out of the range, as before PostgreSQL 17, which says that it is not supported.
CREATE OR REPLACE FUNCTION {schema}.micros_until(p_later timestamptz, p_now timestamptz) RETURNS bigint
LANGUAGE sql IMMUTABLE RETURN
    CASE WHEN p_later = timestamptz 'infinity' THEN (extract(epoch FROM p_now) * 10000000000000000::numeric)::bigint
         WHEN p_later > p_now THEN (extract(epoch FROM p_later - p_now) * 1000000::numeric)::bigint
         WHEN p_later IS NOT NULL THEN 0 END;
