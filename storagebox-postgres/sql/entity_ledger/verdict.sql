-- E-1 Judges a commit. The caller has locked the entity, or found it absent. A commit that was made before is
-- 'committed'. Its entry shows this, or its token, while the token remembers which operation consumed it. Another
-- version is a 'conflict', and so is the entry of another commit, which is not changed.
-- Returns committed | conflict | token gone, or null if the commit is to be made.
CREATE OR REPLACE FUNCTION {schema}.entity_verdict(
    p_namespace bigint, p_key text, p_message text, p_version bigint, p_opened bigint, p_attempt text, p_incoming bigint,
    p_consume text, p_forgotten timestamptz
) RETURNS text
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    entry record;
    token record;
BEGIN
    SELECT o.message, o.attempts[1] AS added_by INTO entry FROM {schema}.outbox_entries o
    WHERE o.namespace = p_namespace AND o.key = p_key AND o.message = p_message;
    SELECT t.token, t.op, t.gone_at INTO token FROM {schema}.tokens t WHERE t.namespace = p_incoming AND t.token = p_consume;
    RETURN CASE
        WHEN entry.added_by = p_attempt OR token.op = p_attempt AND token.gone_at > p_forgotten THEN 'committed'
        WHEN p_version IS DISTINCT FROM p_opened OR entry.message IS NOT NULL THEN 'conflict'
        WHEN p_consume IS NOT NULL AND (token.token IS NULL OR token.gone_at IS NOT NULL) THEN 'token gone'
    END;
END $$;
