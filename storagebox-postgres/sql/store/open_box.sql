-- Registers a box, or shows how it was created (S-3, S-4), with the schema's version.
CREATE OR REPLACE FUNCTION {schema}.open_box(
    p_box bigint, p_kind text, p_name text, p_options text, p_keeps bigint
) RETURNS TABLE (version integer, kind text, name text, options text)
LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO {schema}.boxes VALUES (p_box, p_kind, p_name, p_options, p_keeps) ON CONFLICT DO NOTHING;
    RETURN QUERY
        SELECT (SELECT max(v.version) FROM {schema}.versions v), b.kind, b.name, b.options
        FROM {schema}.boxes b WHERE b.box = p_box;
END $$;
