-- What every setup begins with. Setups go one after another; no name in what follows is looked up where others may create.
BEGIN ISOLATION LEVEL READ COMMITTED;
SET LOCAL search_path = pg_catalog, pg_temp;
SET LOCAL check_function_bodies = off;
SELECT pg_catalog.pg_advisory_xact_lock({lock});
