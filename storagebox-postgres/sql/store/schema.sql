-- Creates the schema. Its functions run with the rights of the role that creates them, so only the owner creates them.
-- Returns the schema's owner, and whether this role is the owner.
CREATE SCHEMA IF NOT EXISTS {schema};
SELECT pg_get_userbyid(nspowner)::text AS owner, pg_get_userbyid(nspowner) = current_user AS is_ours
FROM pg_namespace WHERE nspname = '{schema}';
