-- E-8 Changes the tokens of a commit in the order in which all calls lock tokens: creates those that sort before the
-- token that it consumes, consumes that token, and creates the rest.
-- The caller has found the token live. If another call has ended that token since, fails: the whole commit is rolled
-- back, and the client retries it.
CREATE OR REPLACE FUNCTION {schema}.entity_tokens(
    p_incoming bigint, p_consume text, p_attempt text, p_outgoing bigint, p_create text[], p_memory bigint
) RETURNS void
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    first text[] := ARRAY(
        SELECT u.token FROM pg_catalog.unnest(p_create) u(token)
        WHERE (p_outgoing, u.token COLLATE "C") < (p_incoming, p_consume COLLATE "C")
    );
    rest  text[] := p_create[pg_catalog.cardinality(first) + 1 :];
BEGIN
    PERFORM {schema}.token_make(p_outgoing, first, p_memory) WHERE pg_catalog.cardinality(first) > 0;
    IF p_consume IS NOT NULL AND 'now' <> (
        SELECT c.outcome FROM {schema}.token_consume(p_incoming, ARRAY[p_consume], ARRAY[p_attempt], p_memory) c
    ) THEN
        RAISE EXCEPTION 'another call has ended the token' USING ERRCODE = 'serialization_failure';
    END IF;
    PERFORM {schema}.token_make(p_outgoing, rest, p_memory) WHERE pg_catalog.cardinality(rest) > 0;
END $$;
