-- What a commit is answered that is not made; null for one that is to be made. Asked after the entity was locked, or found absent.
-- E-1 one that was made before is 'committed': its entry tells, or its token, for as long as that remembers who consumed it.
CREATE OR REPLACE FUNCTION {schema}.entity_verdict(
    p_namespace bigint, p_key text, p_message text, p_version bigint, p_opened bigint, p_attempt text, p_incoming bigint,
    p_consume text, p_forgotten timestamptz
) RETURNS text
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    token   record;
    is_live boolean;
BEGIN
    SELECT t.op, t.gone_at INTO token FROM {schema}.tokens t WHERE t.namespace = p_incoming AND t.token = p_consume;
    is_live := FOUND AND token.gone_at IS NULL;
    IF token.op = p_attempt AND token.gone_at > p_forgotten OR EXISTS (
        SELECT FROM {schema}.outbox_entries o
        WHERE o.namespace = p_namespace AND o.key = p_key AND o.message = p_message AND o.attempts[1] = p_attempt
    ) THEN
        RETURN 'committed';
    END IF;
    RETURN CASE WHEN p_version IS DISTINCT FROM p_opened THEN 'conflict'
                WHEN p_consume IS NOT NULL AND NOT is_live THEN 'token gone' END;
END $$;
