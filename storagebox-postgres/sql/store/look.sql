-- What a setup looks at before it does anything. A superuser does not even read what another role made: a view runs its
-- functions with the reader's rights, an immutable one while it is planned.
DO $$
BEGIN
    IF EXISTS (
        SELECT FROM pg_catalog.pg_namespace n, pg_catalog.pg_roles r
        WHERE n.nspname OPERATOR(pg_catalog.=) '{schema}'::pg_catalog.name AND n.nspowner OPERATOR(pg_catalog.<>) r.oid
          AND r.rolname OPERATOR(pg_catalog.=) current_user AND r.rolsuper
    ) THEN
        RAISE EXCEPTION 'the schema belongs to another role, which alone may set it up' USING ERRCODE = '42501';
    END IF;
END $$;
SELECT coalesce(pg_catalog.max(version), 0) FROM {schema}.versions;
