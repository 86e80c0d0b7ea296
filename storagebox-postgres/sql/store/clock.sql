-- The clock by which every expiry is judged (contract, principle 4). Tests replace this function to move the clock.
CREATE OR REPLACE FUNCTION {schema}.clock() RETURNS timestamptz
LANGUAGE sql RETURN clock_timestamp();
