-- S-3, S-4 Finds the namespace that a statement names, and creates it with `p_options` and `p_keeps` if it does not
-- exist. Then makes the checks of every statement about a namespace (`is_namespace`).
-- Returns its number and epoch, how it was created, and the memory of the store.
CREATE OR REPLACE FUNCTION {schema}.namespace_named(
    p_kind text, p_name text, p_options text, p_keeps bigint,
    OUT number bigint, OUT epoch bigint, OUT options text, OUT keeps bigint, OUT memory bigint
)
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    kind text;
    name text;
BEGIN
    PERFORM {schema}.check_text(p_kind, p_name);
    number := {schema}.hash_of(p_kind || ':' || p_name);
    FOR attempt IN 1 .. 2 LOOP
        SELECT b.epoch, b.options, b.keeps, b.kind, b.name, s.memory INTO epoch, options, keeps, kind, name, memory
        FROM {schema}.namespaces b CROSS JOIN {schema}.store s WHERE b.namespace = number;
        EXIT WHEN FOUND;
        PERFORM {schema}.open_namespace(
            (SELECT max(v.version) FROM {schema}.versions v), NULL, NULL, true,
            number, {schema}.random_number(), p_kind, p_name, p_options, p_keeps
        );
    END LOOP;
    IF kind <> p_kind OR name <> p_name THEN
        RAISE EXCEPTION 'the name has the same hash as the name of another namespace; choose another name'
            USING ERRCODE = 'SB006';
    END IF;
    PERFORM {schema}.is_namespace(number, epoch);
END $$;
