-- Returns statements that create decoys in `public`: operators and functions with the names of the server's objects
-- that the functions of a schema ($1) use, for every combination of the types below. A decoy that runs fails, and names
-- itself.
-- If $2 is false, no decoy takes exactly the types of one of the server's own objects: the server's object is found
-- first, because `pg_catalog` is searched first.
WITH single(type) AS (
    SELECT unnest('{boolean,integer,bigint,numeric,double precision,text,name,bytea,timestamptz,interval,tid}'::regtype[])
), every(type) AS (
    SELECT type FROM single UNION ALL SELECT unnest('{integer[],bigint[],text[],bytea[],tid[]}'::regtype[])
), words(word) AS (
    SELECT DISTINCT (regexp_matches(p.prosrc, '(\w+)\(', 'g'))[1] FROM pg_proc p WHERE p.pronamespace = $1::regnamespace
    UNION SELECT unnest('{max,decode,convert_from,current_setting,pg_advisory_xact_lock,clock_timestamp,pg_get_userbyid}'::text[])
), named(name, arguments) AS (
    SELECT DISTINCT p.proname, p.pronargs FROM pg_proc p JOIN words ON word = p.proname
    WHERE p.pronamespace = 'pg_catalog'::regnamespace AND p.pronargs BETWEEN 1 AND 2
), functions(name, types, result) AS (
    SELECT n.name, ARRAY[a.type], a.type FROM named n, every a WHERE n.arguments = 1
    UNION ALL SELECT n.name, ARRAY[a.type, b.type], a.type FROM named n, every a, every b WHERE n.arguments = 2
), operators(name, types, result) AS (
    SELECT o.name, ARRAY[a.type, b.type], CASE WHEN o.name ~ '[=<>]' THEN 'boolean'::regtype ELSE a.type END
    FROM unnest('{=,<>,<,<=,>,>=,+,-,*,/,%,||}'::text[]) o(name), single a, single b
)
SELECT format('CREATE FUNCTION public.%I(%s) RETURNS %s LANGUAGE plpgsql AS $d$ BEGIN RAISE ''a decoy ran: %%'', %L; END $d$',
              f.name, array_to_string(f.types, ', '), f.result, f.name || f.types::text)
FROM functions f WHERE $2 OR NOT EXISTS (
    SELECT FROM pg_proc p WHERE p.proname = f.name AND p.proargtypes::oid[]::regtype[] = f.types
)
UNION ALL
SELECT format('CREATE FUNCTION public.%1$I(%2$s) RETURNS %3$s LANGUAGE plpgsql AS $d$ BEGIN RAISE ''a decoy ran: %%'', %4$L; END $d$; '
              'CREATE OPERATOR public.%5$s (LEFTARG = %6$s, RIGHTARG = %7$s, FUNCTION = public.%1$I)',
              'operator ' || o.name, array_to_string(o.types, ', '), o.result, o.name || o.types::text,
              o.name, o.types[1], o.types[2])
FROM operators o WHERE $2 OR NOT EXISTS (
    SELECT FROM pg_operator p WHERE p.oprname = o.name AND ARRAY[p.oprleft, p.oprright]::regtype[] = o.types
)
