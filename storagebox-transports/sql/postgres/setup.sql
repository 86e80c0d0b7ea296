-- The table of all queues. One message of the simple protocol is one transaction. The lock lets one setup run at a time:
-- two at once would both find that something does not exist.
SELECT pg_catalog.pg_advisory_xact_lock(8319679470430811507);
CREATE SCHEMA IF NOT EXISTS {schema};

-- Receipts: each handing out has a number of its own.
CREATE SEQUENCE IF NOT EXISTS {schema}.leases;

CREATE TABLE IF NOT EXISTS {schema}.messages (
    number     bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    queue      text COLLATE "C" NOT NULL,
    -- Null in a row of a foreign sender, which is parked.
    id         text COLLATE "C",
    token      text COLLATE "C",
    body       bytea,
    -- From when on it may be handed out: the end of its lease or of its pause.
    visible_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    attempts   bigint NOT NULL DEFAULT 0,
    -- The receipt of its last handing out. Null before the first one, and once it was settled.
    lease      bigint,
    parked_at  timestamptz,
    -- How often it ran alone and nobody settled it.
    lone_runs  bigint NOT NULL DEFAULT 0
) WITH (autovacuum_vacuum_scale_factor = 0.01, autovacuum_vacuum_threshold = 1000, autovacuum_vacuum_cost_delay = 0);

-- For a table of an earlier version. Where the column is there, nothing locks the table.
DO $$ BEGIN
    PERFORM lone_runs FROM {schema}.messages LIMIT 0;
EXCEPTION WHEN undefined_column THEN
    ALTER TABLE {schema}.messages ADD COLUMN lone_runs bigint NOT NULL DEFAULT 0;
END $$;

CREATE INDEX IF NOT EXISTS messages_to_take ON {schema}.messages (queue, visible_at, number) WHERE parked_at IS NULL;
CREATE INDEX IF NOT EXISTS messages_parked ON {schema}.messages (queue, number) WHERE parked_at IS NOT NULL;
