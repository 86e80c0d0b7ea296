-- Whatever of a schema ($1) means something, or could come to mean something, that lies neither in it nor in `pg_catalog`.
-- A function whose body is read when it is called, by a path that is not its own:
SELECT format('%s is read by its caller''s search_path', p.oid::regprocedure) AS found FROM pg_proc p
WHERE p.pronamespace = $1::regnamespace AND p.prosqlbody IS NULL
  AND NOT coalesce(p.proconfig, '{}') @> ARRAY['search_path=pg_catalog, pg_temp']
UNION ALL
-- What tables, defaults, checks, indexes and bound functions were bound to when they were made, and what casts call:
SELECT format('%s means %s', ours.identity, theirs.identity) FROM pg_depend d,
    pg_identify_object(d.classid, d.objid, d.objsubid) ours,
    pg_identify_object_as_address(d.classid, d.objid, d.objsubid) named,
    pg_identify_object(d.refclassid, d.refobjid, d.refobjsubid) theirs
WHERE (named.object_names[1] = $1 OR named.type = 'cast') AND theirs.schema NOT IN ('pg_catalog', 'pg_toast', $1)
UNION ALL
-- What would run by itself beside a statement of ours, and is not of the schema:
SELECT format('%s is run by a statement on %s', t.tgname, t.tgrelid::regclass) FROM pg_trigger t JOIN pg_class c ON c.oid = t.tgrelid
    JOIN pg_proc p ON p.oid = t.tgfoid
WHERE c.relnamespace = $1::regnamespace AND NOT t.tgisinternal AND p.pronamespace <> $1::regnamespace
ORDER BY 1
