-- The clock by which every expiry is judged (contract, principle 4). A function of its own, so that tests can move it on.
CREATE OR REPLACE FUNCTION {schema}.clock() RETURNS timestamptz
LANGUAGE sql RETURN clock_timestamp();
