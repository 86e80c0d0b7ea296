-- Whether a step that read the clock at `p_asked`, and then did one thing, has waited for others. If so, it reads the clock
-- again for what it writes.
CREATE OR REPLACE FUNCTION {schema}.has_waited(p_asked timestamptz) RETURNS boolean
LANGUAGE sql RETURN {schema}.clock() > p_asked + interval '10 milliseconds';
