-- Registers a box, or shows how it was created (S-3, S-4), with the schema's version. A library that is older than the
-- schema registers nothing.
CREATE OR REPLACE FUNCTION {schema}.open_box(
    p_version integer, p_box bigint, p_kind text, p_name text, p_options text, p_keeps bigint
) RETURNS TABLE (version integer, kind text, name text, options text)
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp SET lock_timeout = '3s' AS $$
BEGIN
    PERFORM {schema}.check_isolation();
    SELECT max(v.version) INTO version FROM {schema}.versions v;
    IF version <= p_version THEN
        INSERT INTO {schema}.boxes VALUES (p_box, p_kind, p_name, p_options, p_keeps) ON CONFLICT DO NOTHING;
    END IF;
    SELECT b.kind, b.name, b.options INTO kind, name, options FROM {schema}.boxes b WHERE b.box = p_box;
    RETURN NEXT;
END $$;
