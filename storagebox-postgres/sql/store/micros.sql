-- Returns the time until a later moment, in microseconds: 0 for an earlier moment, null for never.
-- No call writes an infinite moment. For an infinite moment, this fails as out of range on every version of PostgreSQL.
CREATE OR REPLACE FUNCTION {schema}.micros_until(p_later timestamptz, p_now timestamptz) RETURNS bigint
LANGUAGE sql IMMUTABLE RETURN
    CASE WHEN p_later = timestamptz 'infinity' THEN (extract(epoch FROM p_now) * 10000000000000000::numeric)::bigint
         WHEN p_later > p_now THEN (extract(epoch FROM p_later - p_now) * 1000000::numeric)::bigint
         WHEN p_later IS NOT NULL THEN 0 END;
