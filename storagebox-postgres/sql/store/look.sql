-- What is looked at before anything else, and whose it is before that: to read what another role made, or to plan it, may
-- run that role's code with the reader's rights. A superuser reads nothing of it; others read plain tables alone, which are
-- the schema's owner's and compute nothing.
DO $$
BEGIN
    IF EXISTS (
        SELECT FROM pg_catalog.pg_namespace n, pg_catalog.pg_roles r
        WHERE n.nspname OPERATOR(pg_catalog.=) '{schema}'::pg_catalog.name AND n.nspowner OPERATOR(pg_catalog.<>) r.oid
          AND r.rolname OPERATOR(pg_catalog.=) current_user AND r.rolsuper
    ) THEN
        RAISE EXCEPTION 'the schema belongs to another role, and no superuser reads it' USING ERRCODE = '42501';
    END IF;
    IF EXISTS (
        SELECT FROM pg_catalog.pg_namespace n JOIN pg_catalog.pg_class c ON c.relnamespace OPERATOR(pg_catalog.=) n.oid
        WHERE n.nspname OPERATOR(pg_catalog.=) '{schema}'::pg_catalog.name
          AND (c.relname OPERATOR(pg_catalog.=) 'versions'::pg_catalog.name
            OR c.relname OPERATOR(pg_catalog.=) 'store'::pg_catalog.name)
          AND (c.relkind OPERATOR(pg_catalog.<>) 'r'::pg_catalog."char" OR c.relowner OPERATOR(pg_catalog.<>) n.nspowner
            OR c.relrowsecurity
            OR EXISTS (SELECT FROM pg_catalog.pg_attribute a WHERE a.attrelid OPERATOR(pg_catalog.=) c.oid
                AND a.attnum OPERATOR(pg_catalog.>) 0::pg_catalog.int2 AND NOT a.attisdropped
                AND a.atttypid OPERATOR(pg_catalog.<>) 'pg_catalog.int4'::pg_catalog.regtype
                AND a.atttypid OPERATOR(pg_catalog.<>) 'pg_catalog.int8'::pg_catalog.regtype
                AND a.atttypid OPERATOR(pg_catalog.<>) 'pg_catalog.timestamptz'::pg_catalog.regtype)
            OR EXISTS (SELECT FROM pg_catalog.pg_index i WHERE i.indrelid OPERATOR(pg_catalog.=) c.oid
                AND (i.indexprs IS NOT NULL OR i.indpred IS NOT NULL))
            OR EXISTS (SELECT FROM pg_catalog.pg_constraint k WHERE k.conrelid OPERATOR(pg_catalog.=) c.oid
                AND k.contype OPERATOR(pg_catalog.=) 'c'::pg_catalog."char")
            OR EXISTS (SELECT FROM pg_catalog.pg_statistic_ext s WHERE s.stxrelid OPERATOR(pg_catalog.=) c.oid))
    ) THEN
        RAISE EXCEPTION 'versions or store is no plain table of the schema''s owner' USING ERRCODE = '42501';
    END IF;
END $$;
SELECT coalesce(pg_catalog.max(v.version), 0) AS version, (SELECT s.epoch FROM ONLY {schema}.store s) AS epoch,
    (SELECT s.memory FROM ONLY {schema}.store s) AS memory
FROM ONLY {schema}.versions v;
