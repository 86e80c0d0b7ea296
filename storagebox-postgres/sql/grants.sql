-- Grants a role what it needs to use the schema, in this version and in later ones. Run this as the schema's owner.
GRANT USAGE ON SCHEMA {schema} TO {role};
GRANT SELECT ON {schema}.versions, {schema}.store TO {role};
GRANT EXECUTE ON ALL FUNCTIONS IN SCHEMA {schema} TO {role};
ALTER DEFAULT PRIVILEGES IN SCHEMA {schema} GRANT EXECUTE ON FUNCTIONS TO {role};
