-- Version 1: the tables. Text is compared by bytes (V-2): BINARY, SQLite's own collation, is that of UTF-8's bytes.
-- Moments are microseconds since 1970, by the clock of the process that wrote them.

-- The store, in one row.
CREATE TABLE storagebox_store (
    one    INTEGER PRIMARY KEY CHECK (one = 1),
    -- How long what has ended is remembered, by everybody, in microseconds; null is for ever.
    memory INTEGER
) STRICT;

CREATE TABLE storagebox_namespaces (
    number      INTEGER PRIMARY KEY,
    kind        TEXT NOT NULL,
    name        TEXT NOT NULL,
    -- How it was created (S-4), in words.
    options     TEXT NOT NULL,
    -- How long operations (counters) or tombstones (ordered values) are kept, in microseconds; null is for ever.
    keeps       INTEGER,
    -- The last version or fence of its records or entities: none repeats, whatever is forgotten (D-5, D-7, E-6).
    last_number INTEGER NOT NULL DEFAULT 0,
    UNIQUE (kind, name)
) STRICT;

-- Items, each in one row for ever: where it is, and who has it (IB-1, IB-2).
CREATE TABLE storagebox_items (
    place INTEGER PRIMARY KEY,
    bank  INTEGER NOT NULL,
    item  TEXT NOT NULL,
    state TEXT NOT NULL CHECK (state IN ('free', 'held', 'spent', 'withdrawn')),
    -- Null also for a spent item whose claim was retired.
    claim TEXT,
    -- The end of a hold, exclusive; null is for ever.
    until INTEGER,
    UNIQUE (bank, item),
    CHECK (state IN ('held', 'spent') OR claim IS NULL),
    CHECK (state <> 'held' OR claim IS NOT NULL),
    CHECK (state = 'held' OR until IS NULL)
) STRICT;
-- One item for a claim (IB-3).
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

-- What was done for an id, or the lease under which it is being done.
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
    -- The operation that put the present value in place of the one at that version.
    replaced_by      TEXT,
    replaced_version INTEGER,
    -- The end of a lease, or of what is done; null is for ever.
    until            INTEGER,
    PRIMARY KEY (namespace, id),
    CHECK ((state = 'done') = (value IS NOT NULL))
) STRICT;
CREATE INDEX storagebox_records_by_end ON storagebox_records (until) WHERE until IS NOT NULL;

-- Operations that are over, so that their late copies change nothing (D-7).
CREATE TABLE storagebox_ended_ops (
    namespace   INTEGER NOT NULL,
    id    TEXT NOT NULL,
    op    TEXT NOT NULL,
    since INTEGER NOT NULL,
    PRIMARY KEY (namespace, id, op)
) STRICT, WITHOUT ROWID;
CREATE INDEX storagebox_ended_ops_by_age ON storagebox_ended_ops (since);

-- Tokens: live, or gone and fenced.
CREATE TABLE storagebox_tokens (
    namespace     INTEGER NOT NULL,
    token   TEXT NOT NULL,
    -- Who consumed it; null also for a token that was discarded.
    op      TEXT,
    gone_at INTEGER,
    PRIMARY KEY (namespace, token)
) STRICT, WITHOUT ROWID;
CREATE INDEX storagebox_tokens_by_age ON storagebox_tokens (gone_at) WHERE gone_at IS NOT NULL;

-- Entities that messages change; a null state is that of an entity that was deleted, or never stored.
CREATE TABLE storagebox_entities (
    namespace INTEGER NOT NULL,
    key       TEXT NOT NULL,
    version   INTEGER NOT NULL,
    -- Since when there is neither a state nor an entry: the version is remembered from then on (E-6).
    gone_at   INTEGER,
    state     BLOB,
    PRIMARY KEY (namespace, key),
    CHECK (gone_at IS NULL OR state IS NULL)
) STRICT;
CREATE INDEX storagebox_entities_by_age ON storagebox_entities (gone_at) WHERE gone_at IS NOT NULL;

-- What is left to do for a message that has changed its entity.
CREATE TABLE storagebox_entries (
    namespace INTEGER NOT NULL,
    key       TEXT NOT NULL,
    message   TEXT NOT NULL,
    -- The commit that added the entry: its first attempt.
    op        TEXT NOT NULL,
    -- The other attempts, in the order of their registration, as JSON.
    later     TEXT NOT NULL DEFAULT '[]',
    chosen    TEXT,
    content   BLOB NOT NULL,
    PRIMARY KEY (namespace, key, message)
) STRICT;

-- The value of a counter. Shards are one row: the file has one writer anyway.
CREATE TABLE storagebox_counters (
    namespace   INTEGER NOT NULL,
    key   TEXT NOT NULL,
    value INTEGER NOT NULL,
    -- How many operations of it are stored at present.
    ops   INTEGER NOT NULL,
    PRIMARY KEY (namespace, key)
) STRICT, WITHOUT ROWID;

-- Operations on counters.
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

-- The newest write of a key; a null value is a tombstone (O-3).
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
