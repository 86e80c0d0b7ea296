-- Begins every setup. Setups run one after another, under an advisory lock. A setup waits for each lock as long as a
-- call may take; its statements have no other time limit. Their names are looked up only in schemas in which no other
-- role can create objects.
BEGIN ISOLATION LEVEL READ COMMITTED;
SET LOCAL statement_timeout = 0;
SET LOCAL idle_in_transaction_session_timeout = 0;
SET LOCAL lock_timeout = {patience};
SET LOCAL search_path = pg_catalog, pg_temp;
SET LOCAL check_function_bodies = off;
-- The setting `transaction_timeout` exists from PostgreSQL 17 on.
SELECT pg_catalog.set_config(s.name, '0', true) FROM pg_catalog.pg_settings s WHERE s.name = 'transaction_timeout';
SELECT pg_catalog.pg_advisory_xact_lock({lock});
