-- E-5 Lists the entries of all entities, in the order of their keys and messages.
-- Returns the key and the message of each, and the commit that added it.
CREATE OR REPLACE FUNCTION {schema}.entity_pending(p_namespace bigint, p_key text, p_message text, p_limit bigint)
RETURNS TABLE (key text, message text, added_by text)
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp SET enable_seqscan = off AS $$
BEGIN
    RETURN QUERY
    SELECT o.key, o.message, o.attempts[1] FROM {schema}.outbox_entries o
    WHERE o.namespace = p_namespace AND (o.key, o.message) > (p_key, p_message)
    ORDER BY o.key, o.message LIMIT p_limit;
END $$;
