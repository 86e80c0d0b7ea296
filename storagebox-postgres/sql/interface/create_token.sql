-- T-2, T-7, T-9 Creates a token.
-- Returns one row: created | already_live | gone
CREATE OR REPLACE FUNCTION {schema}.create_token(tokens text, token text) RETURNS TABLE (outcome text)
LANGUAGE plpgsql SECURITY DEFINER ROWS 1 SET search_path = pg_catalog, pg_temp
SET row_security = off SET lock_timeout = '3s' AS $$
DECLARE
    known record;
BEGIN
    PERFORM {schema}.check_text('token', token);
    SELECT * INTO known FROM {schema}.namespace_named('tokens', tokens, '', NULL);
    SELECT CASE WHEN c.created > 0 THEN 'created' WHEN c.already_live > 0 THEN 'already_live' ELSE 'gone' END
    INTO outcome FROM {schema}.token_create(known.number, ARRAY[token], known.memory) c;
    RETURN NEXT;
END $$;
