-- Returns a random number, for a call without an earlier attempt (ER-5) or for the place where a taker begins (IB-8).
CREATE OR REPLACE FUNCTION {schema}.random_number() RETURNS bigint
LANGUAGE sql RETURN hashtextextended(gen_random_uuid()::text, 0::bigint);
