-- T-1, T-10 Returns whether a token is live.
CREATE OR REPLACE FUNCTION {schema}.token_exists(tokens text, token text) RETURNS boolean
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp
SET row_security = off SET lock_timeout = '3s' AS $$
DECLARE
    known record;
BEGIN
    PERFORM {schema}.check_text('token', token);
    SELECT * INTO known FROM {schema}.namespace_named('tokens', tokens, '', NULL);
    RETURN {schema}.token_is_live(known.number, token);
END $$;
