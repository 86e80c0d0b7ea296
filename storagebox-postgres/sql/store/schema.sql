-- The schema, and whose it is. Its functions run with the rights of whoever makes them, so nobody makes one for another.
CREATE SCHEMA IF NOT EXISTS {schema};
SELECT pg_get_userbyid(nspowner)::text AS owner, pg_get_userbyid(nspowner) = current_user AS is_ours
FROM pg_namespace WHERE nspname = '{schema}';
