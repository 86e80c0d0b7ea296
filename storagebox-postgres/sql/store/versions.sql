-- The versions to which the schema was created and upgraded.
CREATE TABLE IF NOT EXISTS {schema}.versions (
    version    integer PRIMARY KEY,
    applied_at timestamptz NOT NULL DEFAULT clock_timestamp()
);
