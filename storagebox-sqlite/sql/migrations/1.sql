-- Version 1: the tables. Text is compared by its UTF-8 bytes (V-2), with SQLite's default collation BINARY.
-- Times are microseconds since 1970, by the clock of the process that wrote them.

-- The settings of the store, in one row.
CREATE TABLE storagebox_store (
    one    INTEGER PRIMARY KEY CHECK (one = 1),
    -- How long ended operations, claims and tokens are remembered, in microseconds; null means for ever.
    memory INTEGER
) STRICT;

CREATE TABLE storagebox_namespaces (
    number      INTEGER PRIMARY KEY,
    kind        TEXT NOT NULL,
    name        TEXT NOT NULL,
    -- The options with which it was created (S-4), as text.
    options     TEXT NOT NULL,
    -- How long operations (counters) or tombstones (ordered values) are kept, in microseconds; null means for ever.
    keeps       INTEGER,
    -- The last version or fence of its records or entities, so that none repeats (D-5, D-7, E-6).
    last_number INTEGER NOT NULL DEFAULT 0,
    UNIQUE (kind, name)
) STRICT;

-- Items with their states and claims. A row is never deleted (IB-1, IB-2).
CREATE TABLE storagebox_items (
    place INTEGER PRIMARY KEY,
    bank  INTEGER NOT NULL,
    item  TEXT NOT NULL,
    state TEXT NOT NULL CHECK (state IN ('free', 'held', 'spent', 'withdrawn')),
    -- Also null for a spent item whose claim was retired.
    claim TEXT,
    -- The end of a hold, exclusive; null means never.
    until INTEGER,
    UNIQUE (bank, item),
    CHECK (state IN ('held', 'spent') OR claim IS NULL),
    CHECK (state <> 'held' OR claim IS NOT NULL),
    CHECK (state = 'held' OR until IS NULL)
) STRICT;
-- At most one item per claim (IB-3).
CREATE UNIQUE INDEX storagebox_items_by_claim ON storagebox_items (bank, claim) WHERE claim IS NOT NULL;
CREATE INDEX storagebox_items_free ON storagebox_items (bank) WHERE state = 'free';
CREATE INDEX storagebox_items_by_end ON storagebox_items (bank, until) WHERE until IS NOT NULL;

-- The fences of claims that ended (IB-7).
CREATE TABLE storagebox_ended_claims (
    bank     INTEGER NOT NULL,
    claim    TEXT NOT NULL,
    why      TEXT NOT NULL CHECK (why IN ('released', 'expired')),
    ended_at INTEGER NOT NULL,
    PRIMARY KEY (bank, claim)
) STRICT, WITHOUT ROWID;
CREATE INDEX storagebox_ended_claims_by_age ON storagebox_ended_claims (ended_at);

-- The record of an id, or the lease under which the work for the id is done.
CREATE TABLE storagebox_records (
    namespace              INTEGER NOT NULL,
    id               TEXT NOT NULL,
    state            TEXT NOT NULL CHECK (state IN ('leased', 'done')),
    -- The operation that recorded the first value, or that has the lease.
    op               TEXT NOT NULL,
    value            BLOB,
    version          INTEGER,
    fence            INTEGER,
    fingerprint      TEXT,
    -- The operation that wrote the present value by a replace, and the version that it replaced.
    replaced_by      TEXT,
    replaced_version INTEGER,
    -- The end of a lease or of a record's retention; null means never.
    until            INTEGER,
    PRIMARY KEY (namespace, id),
    CHECK ((state = 'done') = (value IS NOT NULL))
) STRICT;
CREATE INDEX storagebox_records_by_end ON storagebox_records (until) WHERE until IS NOT NULL;

-- Operations that have ended, so that late copies of their calls change nothing (D-7).
CREATE TABLE storagebox_ended_ops (
    namespace   INTEGER NOT NULL,
    id    TEXT NOT NULL,
    op    TEXT NOT NULL,
    since INTEGER NOT NULL,
    PRIMARY KEY (namespace, id, op)
) STRICT, WITHOUT ROWID;
CREATE INDEX storagebox_ended_ops_by_age ON storagebox_ended_ops (since);

-- Tokens, which are live, or gone: consumed or discarded.
CREATE TABLE storagebox_tokens (
    namespace     INTEGER NOT NULL,
    token   TEXT NOT NULL,
    -- The operation that consumed it; also null for a discarded token.
    op      TEXT,
    gone_at INTEGER,
    PRIMARY KEY (namespace, token)
) STRICT, WITHOUT ROWID;
CREATE INDEX storagebox_tokens_by_age ON storagebox_tokens (gone_at) WHERE gone_at IS NOT NULL;

-- Entities that messages change. The state is null if the entity was deleted or never stored.
CREATE TABLE storagebox_entities (
    namespace INTEGER NOT NULL,
    key       TEXT NOT NULL,
    version   INTEGER NOT NULL,
    -- Since when the entity has neither a state nor an entry. The memory of its version begins then (E-6).
    gone_at   INTEGER,
    state     BLOB,
    PRIMARY KEY (namespace, key),
    CHECK (gone_at IS NULL OR state IS NULL)
) STRICT;
CREATE INDEX storagebox_entities_by_age ON storagebox_entities (gone_at) WHERE gone_at IS NOT NULL;

-- The entries: messages that have changed their entity and are not finished.
CREATE TABLE storagebox_entries (
    namespace INTEGER NOT NULL,
    key       TEXT NOT NULL,
    message   TEXT NOT NULL,
    -- The commit that added the entry: its first attempt.
    op        TEXT NOT NULL,
    -- The attempts after the first, in the order of their registration, as JSON.
    later     TEXT NOT NULL DEFAULT '[]',
    chosen    TEXT,
    content   BLOB NOT NULL,
    PRIMARY KEY (namespace, key, message)
) STRICT;

-- The values of counters. A sharded counter has one row too, because the file has only one writer.
CREATE TABLE storagebox_counters (
    namespace   INTEGER NOT NULL,
    key   TEXT NOT NULL,
    value INTEGER NOT NULL,
    -- The number of its stored operations.
    ops   INTEGER NOT NULL,
    PRIMARY KEY (namespace, key)
) STRICT, WITHOUT ROWID;

-- The remembered operations on counters.
CREATE TABLE storagebox_counter_ops (
    namespace   INTEGER NOT NULL,
    key   TEXT NOT NULL,
    op    TEXT NOT NULL,
    -- Null for an operation that was cancelled.
    delta INTEGER,
    value INTEGER,
    at    INTEGER NOT NULL,
    PRIMARY KEY (namespace, key, op)
) STRICT, WITHOUT ROWID;
CREATE INDEX storagebox_counter_ops_by_age ON storagebox_counter_ops (namespace, at);
CREATE INDEX storagebox_counter_ops_by_key ON storagebox_counter_ops (namespace, key, at);

-- The newest write of each key. A null value is a tombstone (O-3).
CREATE TABLE storagebox_ordered_values (
    namespace     INTEGER NOT NULL,
    key     TEXT NOT NULL,
    at      INTEGER NOT NULL,
    writer  TEXT NOT NULL,
    value   BLOB,
    arrived INTEGER NOT NULL,
    PRIMARY KEY (namespace, key)
) STRICT;
CREATE INDEX storagebox_tombstones_by_arrival ON storagebox_ordered_values (namespace, arrived) WHERE value IS NULL;
