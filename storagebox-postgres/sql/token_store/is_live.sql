-- T-1, T-10 Returns whether a token is live.
CREATE OR REPLACE FUNCTION {schema}.token_is_live(p_namespace bigint, p_token text) RETURNS boolean
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp SET enable_seqscan = off AS $$
BEGIN
    RETURN EXISTS (SELECT FROM {schema}.tokens t WHERE t.namespace = p_namespace AND t.token = p_token AND t.gone_at IS NULL);
END $$;
