-- Returns how far a shard can still go in the direction of a change.
CREATE OR REPLACE FUNCTION {schema}.counter_room(p_value numeric, p_floor numeric, p_ceiling numeric, p_delta bigint)
RETURNS numeric
LANGUAGE sql IMMUTABLE RETURN CASE WHEN p_delta < 0 THEN p_value - p_floor ELSE p_ceiling - p_value END;
