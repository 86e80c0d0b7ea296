-- T-5, T-6 Consumes a token. `op` names the operation, so that a retry is recognised.
-- Returns one row: now | again | already_gone
CREATE OR REPLACE FUNCTION {schema}.consume(tokens text, token text, op text) RETURNS TABLE (outcome text)
LANGUAGE plpgsql SECURITY DEFINER ROWS 1 SET search_path = pg_catalog, pg_temp
SET row_security = off SET lock_timeout = '3s' AS $$
DECLARE
    known record;
BEGIN
    PERFORM {schema}.check_text('token', token);
    PERFORM {schema}.check_text('op', op);
    SELECT * INTO known FROM {schema}.namespace_named('tokens', tokens, '', NULL);
    SELECT CASE c.outcome WHEN 'gone' THEN 'already_gone' ELSE c.outcome END
    INTO outcome FROM {schema}.token_consume(known.number, ARRAY[token], ARRAY[op], known.memory) c;
    RETURN NEXT;
END $$;
