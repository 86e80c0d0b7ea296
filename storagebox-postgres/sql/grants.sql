-- All that a role needs to use a schema that another role has set up, in this version and in later ones. Its owner says it.
GRANT USAGE ON SCHEMA {schema} TO {role};
GRANT SELECT ON {schema}.versions, {schema}.store TO {role};
GRANT EXECUTE ON ALL FUNCTIONS IN SCHEMA {schema} TO {role};
ALTER DEFAULT PRIVILEGES IN SCHEMA {schema} GRANT EXECUTE ON FUNCTIONS TO {role};
