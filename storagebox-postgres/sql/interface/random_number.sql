-- Returns a random number: of a call that has no earlier attempt (ER-5), or of the place where a taker begins (IB-8).
CREATE OR REPLACE FUNCTION {schema}.random_number() RETURNS bigint
LANGUAGE sql RETURN hashtextextended(gen_random_uuid()::text, 0::bigint);
