-- S-3, S-4 Creates a namespace if it does not exist, but not for a library that is older than the schema, nor for a
-- process that has opened another store (`p_store`, or null) or expects another memory.
-- The lock comes first: a step that empties `namespaces` gives the store a new epoch, and this step must read the new
-- epoch.
-- Returns how the namespace was created and its epoch, and the version, the epoch and the memory of the store.
CREATE OR REPLACE FUNCTION {schema}.open_namespace(
    p_version integer, p_store bigint, p_memory bigint, p_any_memory boolean,
    p_namespace bigint, p_made bigint, p_kind text, p_name text, p_options text, p_keeps bigint
) RETURNS TABLE (version integer, epoch bigint, memory bigint, made bigint, kind text, name text, options text)
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp SET lock_timeout = '3s' AS $$
BEGIN
    PERFORM {schema}.check_session();
    PERFORM {schema}.check_tables();
    LOCK TABLE {schema}.namespaces IN ROW EXCLUSIVE MODE;
    SELECT coalesce(max(v.version), 0) INTO version FROM {schema}.versions v;
    SELECT s.epoch, s.memory INTO epoch, memory FROM {schema}.store s;
    IF version <= p_version AND epoch = coalesce(p_store, epoch) AND (p_any_memory OR memory IS NOT DISTINCT FROM p_memory) THEN
        INSERT INTO {schema}.namespaces VALUES (p_namespace, p_kind, p_name, p_options, p_keeps, p_made) ON CONFLICT DO NOTHING;
        IF FOUND AND p_kind = 'bank' THEN
            -- Here, so that of the first takes for a time none waits for the transaction of another.
            INSERT INTO {schema}.bank_lapses VALUES (p_namespace, '-infinity') ON CONFLICT DO NOTHING;
        END IF;
    END IF;
    SELECT b.epoch, b.kind, b.name, b.options INTO made, kind, name, options FROM {schema}.namespaces b WHERE b.namespace = p_namespace;
    RETURN NEXT;
END $$;
