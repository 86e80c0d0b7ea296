-- What a total is refused for: C-4 'overflow' before C-2 'out of bounds'; null if it is not.
CREATE OR REPLACE FUNCTION {schema}.counter_verdict(p_total numeric, p_floor bigint, p_ceiling bigint) RETURNS text
LANGUAGE sql IMMUTABLE RETURN
    CASE WHEN p_total < (-9223372036854775808)::numeric OR p_total > 9223372036854775807::numeric THEN 'overflow'
         WHEN p_total < p_floor::numeric OR p_total > p_ceiling::numeric THEN 'out of bounds' END;
