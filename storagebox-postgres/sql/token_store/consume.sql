-- T-5 Consumes live tokens, under the locks of their rows. An unknown token is 'gone' and leaves no trace.
-- T-6 A retry of the operation that consumed a token gets 'again'.
-- The caller sorts the tokens.
-- Returns one row per token, in the order of the arrays: now | again | gone
CREATE OR REPLACE FUNCTION {schema}.token_consume(p_namespace bigint, p_tokens text[], p_ops text[], p_memory bigint)
RETURNS TABLE (outcome text)
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp SET enable_seqscan = off SET lock_timeout = '3s' AS $$
DECLARE
    known record;
    now   timestamptz;
BEGIN
    FOR i IN 1 .. pg_catalog.cardinality(p_tokens) LOOP
        SELECT t.ctid AS place, t.op, t.gone_at INTO known FROM {schema}.tokens t
        WHERE t.namespace = p_namespace AND t.token = p_tokens[i] FOR UPDATE;
        outcome := 'gone';
        IF FOUND THEN
            now := {schema}.clock();
            IF known.gone_at IS NULL THEN
                UPDATE {schema}.tokens t SET gone_at = now, op = p_ops[i] WHERE t.ctid = known.place;
                outcome := 'now';
            ELSIF known.op = p_ops[i] AND known.gone_at > {schema}.forgotten_before(p_memory, now) THEN
                outcome := 'again';
            END IF;
        END IF;
        RETURN NEXT;
    END LOOP;
END $$;
