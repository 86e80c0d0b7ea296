-- Returns the first eight bytes of the SHA-256 of a text, as the client computes the number of a namespace and the
-- shard of an operation.
CREATE OR REPLACE FUNCTION {schema}.hash_of(p_text text) RETURNS bigint
LANGUAGE sql IMMUTABLE RETURN ('x' || left(encode(sha256(convert_to(p_text, 'UTF8')), 'hex'), 16))::bit(64)::bigint;
