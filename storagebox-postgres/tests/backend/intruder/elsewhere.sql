-- Finds what in a schema ($1) refers, or could come to refer, to an object outside the schema and `pg_catalog`.
-- Functions whose bodies are parsed when they are called, with the search_path of the caller:
SELECT format('%s is read by its caller''s search_path', p.oid::regprocedure) AS found FROM pg_proc p
WHERE p.pronamespace = $1::regnamespace AND p.prosqlbody IS NULL
  AND NOT coalesce(p.proconfig, '{}') @> ARRAY['search_path=pg_catalog, pg_temp']
UNION ALL
-- References of tables, defaults, checks, indexes and functions, resolved when these were created, and of casts:
SELECT format('%s means %s', ours.identity, theirs.identity) FROM pg_depend d,
    pg_identify_object(d.classid, d.objid, d.objsubid) ours,
    pg_identify_object_as_address(d.classid, d.objid, d.objsubid) named,
    pg_identify_object(d.refclassid, d.refobjid, d.refobjsubid) theirs
WHERE (named.object_names[1] = $1 OR named.type = 'cast') AND theirs.schema NOT IN ('pg_catalog', 'pg_toast', $1)
UNION ALL
-- Triggers on the tables of the schema whose function is outside the schema:
SELECT format('%s is run by a statement on %s', t.tgname, t.tgrelid::regclass) FROM pg_trigger t JOIN pg_class c ON c.oid = t.tgrelid
    JOIN pg_proc p ON p.oid = t.tgfoid
WHERE c.relnamespace = $1::regnamespace AND NOT t.tgisinternal AND p.pronamespace <> $1::regnamespace
ORDER BY 1
