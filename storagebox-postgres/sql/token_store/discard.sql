-- T-6 Discards tokens; idempotent. T-7 Unknown tokens are fenced as well.
-- The caller sorts the tokens and gives each once.
-- Returns how many were live, and how many were not.
CREATE OR REPLACE FUNCTION {schema}.token_discard(p_namespace bigint, p_tokens text[], p_memory bigint)
RETURNS TABLE (discarded bigint, already_gone bigint)
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp SET enable_seqscan = off SET lock_timeout = '3s' AS $$
DECLARE
    asked timestamptz;
    now   timestamptz;
    known record;
BEGIN
    discarded := 0;
    FOR i IN 1 .. pg_catalog.cardinality(p_tokens) LOOP
        LOOP
            asked := {schema}.clock();
            INSERT INTO {schema}.tokens (namespace, token, gone_at) VALUES (p_namespace, p_tokens[i], asked) ON CONFLICT DO NOTHING;
            IF FOUND THEN
                EXIT WHEN NOT {schema}.has_waited(asked);
                now := {schema}.clock();
                UPDATE {schema}.tokens t SET gone_at = now WHERE t.namespace = p_namespace AND t.token = p_tokens[i];
                EXIT;
            END IF;
            SELECT t.ctid AS place, t.gone_at INTO known FROM {schema}.tokens t
            WHERE t.namespace = p_namespace AND t.token = p_tokens[i] FOR UPDATE;
            CONTINUE WHEN NOT FOUND;
            now := {schema}.clock();
            IF known.gone_at IS NULL OR known.gone_at <= {schema}.forgotten_before(p_memory, now) THEN
                UPDATE {schema}.tokens t SET gone_at = now, op = NULL WHERE t.ctid = known.place;
                discarded := discarded + (known.gone_at IS NULL)::integer;
            END IF;
            EXIT;
        END LOOP;
    END LOOP;
    already_gone := pg_catalog.cardinality(p_tokens) - discarded;
    RETURN NEXT;
END $$;
