-- T-2, T-7, T-8, T-9 Creates tokens. Live tokens, and gone tokens that are still remembered, are not changed.
-- The caller sorts the tokens and gives each once.
-- Returns the created tokens.
CREATE OR REPLACE FUNCTION {schema}.token_make(p_namespace bigint, p_tokens text[], p_memory bigint) RETURNS text[]
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    new text[];
BEGIN
    WITH made AS (
        INSERT INTO {schema}.tokens AS t (namespace, token) SELECT p_namespace, u.token FROM pg_catalog.unnest(p_tokens) u(token)
        -- The condition is evaluated after the row is locked.
        ON CONFLICT (namespace, token) DO UPDATE SET gone_at = NULL, op = NULL
        WHERE t.gone_at <= {schema}.forgotten_before(p_memory, {schema}.clock())
        RETURNING t.token
    )
    SELECT pg_catalog.array_agg(m.token) INTO new FROM made m;
    RETURN new;
END $$;
