-- E-3 Chooses an attempt of an entry if none is chosen, under the lock of the entry's row.
-- Returns the entry after that; no row if this commit has no entry in which the attempt is registered.
CREATE OR REPLACE FUNCTION {schema}.entity_choose(
    p_namespace bigint, p_key text, p_message text, p_commit text, p_attempt text
) RETURNS TABLE (content bytea, attempts text[], chosen text)
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp SET enable_seqscan = off SET lock_timeout = '3s' AS $$
BEGIN
    RETURN QUERY
    UPDATE {schema}.outbox_entries o SET chosen = coalesce(o.chosen, p_attempt)
    WHERE o.namespace = p_namespace AND o.key = p_key AND o.message = p_message AND o.attempts[1] = p_commit
      AND p_attempt = ANY (o.attempts)
    RETURNING o.content, o.attempts, o.chosen;
END $$;
