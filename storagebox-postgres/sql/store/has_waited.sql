-- Whether whoever read the clock at `p_asked`, and then did one thing, waited for others. What was written by that moment is
-- dated anew.
CREATE OR REPLACE FUNCTION {schema}.has_waited(p_asked timestamptz) RETURNS boolean
LANGUAGE sql RETURN {schema}.clock() > p_asked + interval '10 milliseconds';
