-- E-5 Reads an entity, the entry of a message and whether the message's token is live, in one snapshot.
-- An entity whose memory is over counts as absent.
-- Returns always one row, with nulls for what does not exist.
CREATE OR REPLACE FUNCTION {schema}.entity_open(
    p_namespace bigint, p_key text, p_message text, p_incoming bigint, p_incoming_epoch bigint, p_token text, p_memory bigint
) RETURNS TABLE (version bigint, state bytea, content bytea, attempts text[], chosen text, is_live boolean)
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp SET enable_seqscan = off AS $$
DECLARE
    asked timestamptz := {schema}.clock();
BEGIN
    PERFORM {schema}.is_namespace(p_incoming, p_incoming_epoch) WHERE p_incoming IS NOT NULL;
    RETURN QUERY
    SELECT e.version, e.state, o.content, o.attempts, o.chosen, CASE WHEN p_token IS NOT NULL THEN t.token IS NOT NULL END
    FROM (VALUES (true)) one
    LEFT JOIN {schema}.entities e ON e.namespace = p_namespace AND e.key = p_key
        AND (e.emptied_at IS NULL OR e.emptied_at > {schema}.forgotten_before(p_memory, asked))
    LEFT JOIN {schema}.outbox_entries o ON o.namespace = p_namespace AND o.key = p_key AND o.message = p_message
    LEFT JOIN {schema}.tokens t ON t.namespace = p_incoming AND t.token = p_token AND t.gone_at IS NULL;
END $$;
