-- E-1 Compares and sets the entity's version, under the lock of its row. Of all commits that find the entity absent,
-- one inserts it, by the primary key, and the others read it again.
-- E-2, E-8 The entry and the tokens change in the same step. The caller sorts the new tokens and gives each once.
-- E-6 The version comes from the sequence, so that none repeats, also after the entity is forgotten.
-- Returns committed | conflict | token gone, as in `entity_verdict`
CREATE OR REPLACE FUNCTION {schema}.entity_commit(
    p_namespace bigint, p_key text, p_message text, p_opened bigint, p_changes boolean, p_state bytea, p_attempt text,
    p_content bytea, p_incoming bigint, p_incoming_epoch bigint, p_consume text, p_outgoing bigint, p_outgoing_epoch bigint,
    p_create text[], p_memory bigint
) RETURNS text
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp SET enable_seqscan = off SET lock_timeout = '3s' AS $$
DECLARE
    known     record;
    asked     timestamptz;
    forgotten timestamptz;
    verdict   text;
BEGIN
    PERFORM {schema}.check_isolation();
    PERFORM {schema}.is_namespace(p_incoming, p_incoming_epoch) WHERE p_incoming IS NOT NULL;
    PERFORM {schema}.is_namespace(p_outgoing, p_outgoing_epoch) WHERE p_outgoing IS NOT NULL;
    LOOP
        SELECT e.ctid AS place, e.version, e.emptied_at INTO known FROM {schema}.entities e
        WHERE e.namespace = p_namespace AND e.key = p_key FOR UPDATE;
        asked := {schema}.clock();
        forgotten := {schema}.forgotten_before(p_memory, asked);
        verdict := {schema}.entity_verdict(
            p_namespace, p_key, p_message, CASE WHEN known.emptied_at <= forgotten THEN NULL ELSE known.version END, p_opened,
            p_attempt, p_incoming, p_consume, forgotten
        );
        IF verdict IS NOT NULL THEN
            RETURN verdict;
        END IF;
        EXIT WHEN known.place IS NOT NULL;
        INSERT INTO {schema}.entities (namespace, key, version, state)
        VALUES (p_namespace, p_key, {schema}.next_number(NULL), p_state) ON CONFLICT DO NOTHING;
        EXIT WHEN FOUND;
    END LOOP;
    UPDATE {schema}.entities e
    SET version = {schema}.next_number(known.version), state = CASE WHEN p_changes THEN p_state ELSE e.state END, emptied_at = NULL
    WHERE e.ctid = known.place;
    PERFORM {schema}.entity_tokens(p_incoming, p_consume, p_attempt, p_outgoing, p_create, p_memory);
    INSERT INTO {schema}.outbox_entries
    SELECT p_namespace, p_key, p_message, p_content, ARRAY[p_attempt], CASE WHEN pg_catalog.cardinality(p_create) > 0 THEN p_attempt END
    WHERE p_content IS NOT NULL;
    PERFORM {schema}.entity_emptied(p_namespace, p_key, {schema}.clock()) WHERE p_content IS NULL;
    RETURN 'committed';
END $$;
