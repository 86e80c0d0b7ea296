-- Reads the state of the schema. Before that, checks the owners of the tables: reading a table of another role, or
-- planning the read, can run that role's code with the reader's rights. A superuser reads no schema of another role.
-- Other roles read only plain tables of the schema's owner, which contain no expressions.
-- The errors that refuse every call come first. Then come the errors that refuse some calls: objects that are missing,
-- and objects that the role or the schema's owner may not use.
DO $$
BEGIN
    IF pg_catalog.current_setting('transaction_read_only') OPERATOR(pg_catalog.<>) 'off'::pg_catalog.text THEN
        RAISE EXCEPTION 'the server or the session is read-only' USING ERRCODE = '25006';
    END IF;
    IF pg_catalog.current_setting('transaction_isolation') OPERATOR(pg_catalog.<>) 'read committed'::pg_catalog.text THEN
        RAISE EXCEPTION 'storagebox needs transactions at READ COMMITTED' USING ERRCODE = 'SB002';
    END IF;
    IF EXISTS (
        SELECT FROM pg_catalog.pg_namespace n, pg_catalog.pg_roles r
        WHERE n.nspname OPERATOR(pg_catalog.=) '{schema}'::pg_catalog.name AND n.nspowner OPERATOR(pg_catalog.<>) r.oid
          AND r.rolname OPERATOR(pg_catalog.=) current_user AND r.rolsuper
    ) THEN
        RAISE EXCEPTION 'the schema belongs to another role, so a superuser does not read it' USING ERRCODE = '42501';
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
        RAISE EXCEPTION 'versions or store is not a plain table of the schema''s owner' USING ERRCODE = '42501';
    END IF;
END $$;
SELECT coalesce(pg_catalog.max(v.version), 0) AS version, (SELECT s.epoch FROM ONLY {schema}.store s) AS epoch,
    (SELECT s.memory FROM ONLY {schema}.store s) AS memory, (
        SELECT pg_catalog.min(w.name::pg_catalog.text) FROM pg_catalog.unnest('{{functions},{tables}}'::pg_catalog.name[]) w(name)
        WHERE NOT EXISTS (SELECT FROM pg_catalog.pg_proc p WHERE p.proname OPERATOR(pg_catalog.=) w.name
                AND p.pronamespace OPERATOR(pg_catalog.=) '{schema}'::pg_catalog.regnamespace)
            AND NOT EXISTS (SELECT FROM pg_catalog.pg_class c WHERE c.relname OPERATOR(pg_catalog.=) w.name
                AND c.relnamespace OPERATOR(pg_catalog.=) '{schema}'::pg_catalog.regnamespace)
    ) AS missing, (
        SELECT pg_catalog.min(d.name) FROM (
            SELECT p.proname::pg_catalog.text AS name FROM pg_catalog.pg_proc p
            WHERE p.pronamespace OPERATOR(pg_catalog.=) '{schema}'::pg_catalog.regnamespace AND (p.prosecdef OR pg_catalog.starts_with(p.proname::pg_catalog.text, 'is_'::pg_catalog.text))
                AND p.proname OPERATOR(pg_catalog.=) ANY ('{{functions}}'::pg_catalog.name[])
                AND NOT pg_catalog.has_function_privilege(p.oid, 'EXECUTE'::pg_catalog.text)
            UNION ALL
            SELECT c.relname::pg_catalog.text FROM pg_catalog.pg_class c JOIN pg_catalog.pg_roles r
                ON r.oid OPERATOR(pg_catalog.=) c.relowner
            WHERE c.relnamespace OPERATOR(pg_catalog.=) '{schema}'::pg_catalog.regnamespace
                AND c.relname OPERATOR(pg_catalog.=) ANY ('{{tables}}'::pg_catalog.name[])
                AND (c.relforcerowsecurity AND NOT r.rolsuper AND NOT r.rolbypassrls
                    OR c.relkind OPERATOR(pg_catalog.=) 'r'::pg_catalog."char" AND EXISTS (
                        SELECT FROM pg_catalog.unnest('{SELECT,INSERT,UPDATE,DELETE}'::pg_catalog.text[]) u(may)
                        WHERE NOT pg_catalog.has_table_privilege(c.relowner, c.oid, u.may))
                    OR c.relkind OPERATOR(pg_catalog.=) 'S'::pg_catalog."char" AND EXISTS (
                        SELECT FROM pg_catalog.unnest('{SELECT,UPDATE}'::pg_catalog.text[]) u(may)
                        WHERE NOT pg_catalog.has_sequence_privilege(c.relowner, c.oid, u.may)))
        ) d
    ) AS denied,
{unfit}FROM ONLY {schema}.versions v;
