-- E-4 Adds an attempt to the entry of this commit, unless an attempt is chosen.
-- Returns the entry, with its content if an attempt is chosen; no row if this commit has no entry.
CREATE OR REPLACE FUNCTION {schema}.entity_register(
    p_namespace bigint, p_key text, p_message text, p_commit text, p_attempt text
) RETURNS TABLE (content bytea, attempts text[], chosen text)
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp SET enable_seqscan = off SET lock_timeout = '3s' AS $$
BEGIN
    RETURN QUERY
    UPDATE {schema}.outbox_entries o
    SET attempts = CASE WHEN o.chosen IS NULL AND p_attempt <> ALL (o.attempts)
                        THEN pg_catalog.array_append(o.attempts, p_attempt) ELSE o.attempts END
    WHERE o.namespace = p_namespace AND o.key = p_key AND o.message = p_message AND o.attempts[1] = p_commit
    RETURNING CASE WHEN o.chosen IS NOT NULL THEN o.content END, o.attempts, o.chosen;
END $$;
