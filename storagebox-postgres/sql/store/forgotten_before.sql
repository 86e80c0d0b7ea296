-- Returns the latest end that is forgotten: all that ended at this time or before is forgotten. A null memory means for
-- ever.
CREATE OR REPLACE FUNCTION {schema}.forgotten_before(p_memory bigint, p_now timestamptz) RETURNS timestamptz
LANGUAGE sql STABLE RETURN coalesce(p_now - {schema}.interval_of(p_memory), timestamptz '-infinity');
