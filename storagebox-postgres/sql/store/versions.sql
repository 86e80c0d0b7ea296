-- The versions that the schema has been brought to.
CREATE TABLE IF NOT EXISTS {schema}.versions (
    version    integer PRIMARY KEY,
    applied_at timestamptz NOT NULL DEFAULT clock_timestamp()
);
