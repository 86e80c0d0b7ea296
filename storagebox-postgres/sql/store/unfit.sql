    (
        -- A table without a unique index: two callers would both insert a row, and each would be the first.
        SELECT pg_catalog.min(c.relname::pg_catalog.text) FROM pg_catalog.pg_class c
        WHERE c.relnamespace OPERATOR(pg_catalog.=) '{schema}'::pg_catalog.regnamespace AND c.relkind OPERATOR(pg_catalog.=) 'r'::pg_catalog."char"
            AND c.relname OPERATOR(pg_catalog.=) ANY ('{{tables}}'::pg_catalog.name[])
            AND NOT EXISTS (SELECT FROM pg_catalog.pg_index i WHERE i.indrelid OPERATOR(pg_catalog.=) c.oid
                AND i.indisunique AND i.indimmediate AND i.indisready AND i.indpred IS NULL AND i.indexprs IS NULL)
    ) AS keyless, (
        -- A trigger before each row, or a rule, can discard a write without an error, and leave half a step.
        SELECT pg_catalog.min(c.relname::pg_catalog.text) FROM pg_catalog.pg_class c
        WHERE c.relnamespace OPERATOR(pg_catalog.=) '{schema}'::pg_catalog.regnamespace AND c.relkind OPERATOR(pg_catalog.=) 'r'::pg_catalog."char"
            AND c.relname OPERATOR(pg_catalog.=) ANY ('{{tables}}'::pg_catalog.name[])
            AND (EXISTS (SELECT FROM pg_catalog.pg_trigger t WHERE t.tgrelid OPERATOR(pg_catalog.=) c.oid AND NOT t.tgisinternal
                    AND t.tgenabled OPERATOR(pg_catalog.<>) 'D'::pg_catalog."char"
                    AND (t.tgtype OPERATOR(pg_catalog.&) 3::pg_catalog.int2) OPERATOR(pg_catalog.=) 3::pg_catalog.int2)
                OR EXISTS (SELECT FROM pg_catalog.pg_rewrite w WHERE w.ev_class OPERATOR(pg_catalog.=) c.oid
                    AND w.ev_enabled OPERATOR(pg_catalog.<>) 'D'::pg_catalog."char"))
    ) AS diverted
