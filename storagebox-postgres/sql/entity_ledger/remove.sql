-- E-7 Deletes the entry of a message, if this commit added it. Locks the entity first, so that no commit adds an entry
-- while this call checks whether it deleted the last entry.
-- Returns whether it deleted the entry.
CREATE OR REPLACE FUNCTION {schema}.entity_remove(p_namespace bigint, p_key text, p_message text, p_commit text) RETURNS boolean
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp SET enable_seqscan = off SET lock_timeout = '3s' AS $$
BEGIN
    PERFORM {schema}.check_isolation();
    PERFORM FROM {schema}.entities e WHERE e.namespace = p_namespace AND e.key = p_key FOR UPDATE;
    DELETE FROM {schema}.outbox_entries o
    WHERE o.namespace = p_namespace AND o.key = p_key AND o.message = p_message AND o.attempts[1] = p_commit;
    IF NOT FOUND THEN
        RETURN false;
    END IF;
    PERFORM {schema}.entity_emptied(p_namespace, p_key, {schema}.clock());
    RETURN true;
END $$;
