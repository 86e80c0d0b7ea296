-- Returns whether a step that read the clock at `p_asked` has waited for others since: more than 10 ms have passed. If
-- so, the step reads the clock again for the times that it writes.
CREATE OR REPLACE FUNCTION {schema}.has_waited(p_asked timestamptz) RETURNS boolean
LANGUAGE sql RETURN {schema}.clock() > p_asked + interval '10 milliseconds';
