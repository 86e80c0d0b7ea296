-- What every setup begins with. Setups go one after another; no name in what follows is looked up where others may create.
-- One waits for the others as long as a call may take, and its own work takes as long as there is to do.
BEGIN ISOLATION LEVEL READ COMMITTED;
SET LOCAL statement_timeout = 0;
SET LOCAL idle_in_transaction_session_timeout = 0;
SET LOCAL lock_timeout = {patience};
SET LOCAL search_path = pg_catalog, pg_temp;
SET LOCAL check_function_bodies = off;
-- From PostgreSQL 17 on.
SELECT pg_catalog.set_config(s.name, '0', true) FROM pg_catalog.pg_settings s WHERE s.name = 'transaction_timeout';
SELECT pg_catalog.pg_advisory_xact_lock({lock});
