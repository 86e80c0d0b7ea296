-- T-6, T-7 Discards a token. An unknown token is fenced.
-- Returns one row: discarded | already_gone
CREATE OR REPLACE FUNCTION {schema}.discard_token(tokens text, token text) RETURNS TABLE (outcome text)
LANGUAGE plpgsql SECURITY DEFINER ROWS 1 SET search_path = pg_catalog, pg_temp
SET row_security = off SET lock_timeout = '3s' AS $$
DECLARE
    known record;
BEGIN
    PERFORM {schema}.check_text('token', token);
    SELECT * INTO known FROM {schema}.namespace_named('tokens', tokens, '', NULL);
    SELECT CASE WHEN d.discarded > 0 THEN 'discarded' ELSE 'already_gone' END
    INTO outcome FROM {schema}.token_discard(known.number, ARRAY[token], known.memory) d;
    RETURN NEXT;
END $$;
