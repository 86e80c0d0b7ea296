-- Returns whether a step has waited for others since it read the clock at `p_asked`. It made one statement in between,
-- and if it has waited, it reads the clock again for the times that it writes.
CREATE OR REPLACE FUNCTION {schema}.has_waited(p_asked timestamptz) RETURNS boolean
LANGUAGE sql RETURN {schema}.clock() > p_asked + interval '10 milliseconds';
