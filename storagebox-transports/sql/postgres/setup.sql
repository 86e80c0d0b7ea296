-- Creates the schema and the table of all queues if they do not exist. The simple protocol runs this text as one
-- transaction. The lock lets one setup run at a time, because two concurrent setups could create the same object.
SELECT pg_catalog.pg_advisory_xact_lock(8319679470430811507);
CREATE SCHEMA IF NOT EXISTS {schema};

-- The receipts. Each delivery takes the next number.
CREATE SEQUENCE IF NOT EXISTS {schema}.leases;

CREATE TABLE IF NOT EXISTS {schema}.messages (
    number     bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    queue      text COLLATE "C" NOT NULL,
    -- May be null in a row of a foreign sender. Such a row is parked.
    id         text COLLATE "C",
    token      text COLLATE "C",
    body       bytea,
    -- The time from which the message is available: the end of its lease or of its pause.
    visible_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    attempts   bigint NOT NULL DEFAULT 0,
    -- The receipt of the last delivery. Null before the first delivery, and after a settlement.
    lease      bigint,
    parked_at  timestamptz,
    -- The number of lone runs without a settlement.
    lone_runs  bigint NOT NULL DEFAULT 0
) WITH (autovacuum_vacuum_scale_factor = 0.01, autovacuum_vacuum_threshold = 1000, autovacuum_vacuum_cost_delay = 0);

-- Adds the column to a table of an earlier version. If the column exists, no ALTER TABLE locks the table.
DO $$ BEGIN
    PERFORM lone_runs FROM {schema}.messages LIMIT 0;
EXCEPTION WHEN undefined_column THEN
    ALTER TABLE {schema}.messages ADD COLUMN lone_runs bigint NOT NULL DEFAULT 0;
END $$;

CREATE INDEX IF NOT EXISTS messages_to_take ON {schema}.messages (queue, visible_at, number) WHERE parked_at IS NULL;
CREATE INDEX IF NOT EXISTS messages_parked ON {schema}.messages (queue, number) WHERE parked_at IS NOT NULL;
