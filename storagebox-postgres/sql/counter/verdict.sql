-- C-2, C-4 Returns why a total is refused: 'overflow' before 'out of bounds'. Null if it is not refused.
CREATE OR REPLACE FUNCTION {schema}.counter_verdict(p_total numeric, p_floor bigint, p_ceiling bigint) RETURNS text
LANGUAGE sql IMMUTABLE RETURN
    CASE WHEN p_total < (-9223372036854775808)::numeric OR p_total > 9223372036854775807::numeric THEN 'overflow'
         WHEN p_total < p_floor::numeric OR p_total > p_ceiling::numeric THEN 'out of bounds' END;
