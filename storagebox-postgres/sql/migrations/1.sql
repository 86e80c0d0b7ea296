-- Version 1: the tables. Text is compared by bytes (V-2), whatever the database's collation is.
-- Every index beside a primary key has a condition, true of all its rows though it may be, that a look by key does not
-- name: so no plan, not even one made on an empty table, can look a key up by age.
-- A CHECK has no words in it: every statement that writes a row reads the expression's text anew, and words are its dearest part.
-- Rows come and go in all of these tables but `namespaces`, and all are vacuumed alike: soon, and without pauses.
-- A namespace is named by `namespace`, the first eight bytes of a SHA-256 over its kind and name, so that no call has to look its
-- number up and none is ever another namespace's.

CREATE TABLE {schema}.namespaces (
    namespace     bigint PRIMARY KEY,
    kind    text COLLATE "C" NOT NULL,
    name    text COLLATE "C" NOT NULL,
    -- How it was created (S-4), in words.
    options text COLLATE "C" NOT NULL,
    -- How long operations (counters) or tombstones (ordered values) are kept, in microseconds; null is for ever.
    keeps   bigint,
    -- Made by chance when it was created: a namespace that was emptied and is created again is another one.
    epoch   bigint NOT NULL,
    UNIQUE (kind, name)
);

-- Items that may be taken. `h` is the first eight bytes of the item's SHA-256: takers begin at a place of their own in it.
CREATE TABLE {schema}.free_items (
    bank bigint NOT NULL,
    h    bigint NOT NULL,
    item text COLLATE "C" NOT NULL,
    PRIMARY KEY (bank, h, item)
) WITH (autovacuum_vacuum_scale_factor = 0.01, autovacuum_vacuum_threshold = 1000, autovacuum_vacuum_cost_delay = 0);

-- Which of a bank's 512 sections may have free items: 64 of them in each row, a bit for each. A section is a range of `h`.
CREATE TABLE {schema}.bank_sections (
    bank bigint NOT NULL,
    part integer NOT NULL,
    bits bigint NOT NULL,
    PRIMARY KEY (bank, part)
) WITH (
    fillfactor = 10, autovacuum_vacuum_scale_factor = 0.01, autovacuum_vacuum_threshold = 1000, autovacuum_vacuum_cost_delay = 0
);

-- Which cells of a section may: a bit for each. They are equal parts of it, and the more of them, the more items it has had.
CREATE TABLE {schema}.bank_cells (
    bank    bigint NOT NULL,
    section integer NOT NULL,
    cells   bit varying NOT NULL,
    PRIMARY KEY (bank, section)
) WITH (
    fillfactor = 10, autovacuum_vacuum_scale_factor = 0.01, autovacuum_vacuum_threshold = 1000, autovacuum_vacuum_cost_delay = 0
);

-- Claims: those that hold an item, those that spent it, and the fences of those that ended (IB-7).
CREATE TABLE {schema}.claims (
    bank     bigint NOT NULL,
    -- Null once a confirmed claim was retired: its item stays spent.
    claim    text COLLATE "C",
    -- held, spent: it has an item; released, expired: it has ended
    state    text COLLATE "C" NOT NULL,
    h        bigint,
    item     text COLLATE "C",
    -- The end of a hold, exclusive; null is for ever.
    until    timestamptz,
    ended_at timestamptz,
    CHECK ((item IS NULL) <> (ended_at IS NULL))
) WITH (autovacuum_vacuum_scale_factor = 0.01, autovacuum_vacuum_threshold = 1000, autovacuum_vacuum_cost_delay = 0);
CREATE UNIQUE INDEX claims_by_claim ON {schema}.claims (bank, claim);
CREATE INDEX claims_by_item ON {schema}.claims (bank, h) WHERE item IS NOT NULL;
CREATE INDEX claims_by_end ON {schema}.claims (bank, until) WHERE until IS NOT NULL;
CREATE INDEX claims_by_age ON {schema}.claims (bank, ended_at) WHERE ended_at IS NOT NULL;

-- From when on takers look for lapsed holds: none ends before.
CREATE TABLE {schema}.bank_lapses (
    bank  bigint PRIMARY KEY,
    since timestamptz NOT NULL
) WITH (
    fillfactor = 10, autovacuum_vacuum_scale_factor = 0.01, autovacuum_vacuum_threshold = 1000, autovacuum_vacuum_cost_delay = 0
);

-- Items set aside.
CREATE TABLE {schema}.withdrawn_items (
    bank bigint NOT NULL,
    h    bigint NOT NULL,
    item text COLLATE "C" NOT NULL,
    PRIMARY KEY (bank, h, item)
) WITH (autovacuum_vacuum_scale_factor = 0.01, autovacuum_vacuum_threshold = 1000, autovacuum_vacuum_cost_delay = 0);

-- Versions and fences, of all ids and entities: none repeats, whatever is forgotten (D-5, D-7, E-6).
CREATE SEQUENCE {schema}.numbers;

-- What was done for an id, or the lease under which it is being done.
CREATE TABLE {schema}.records (
    namespace              bigint NOT NULL,
    id               text COLLATE "C" NOT NULL,
    -- leased: it has a fence; done: it has a value
    state            text COLLATE "C" NOT NULL,
    -- The operation that recorded the first value, or that has the lease.
    op               text COLLATE "C" NOT NULL,
    value            bytea,
    version          bigint,
    fence            bigint,
    fingerprint      text COLLATE "C",
    -- The operation that put the present value in place of the one at that version.
    replaced_by      text COLLATE "C",
    replaced_version bigint,
    -- The end of a lease, or of what is done; null is for ever.
    until            timestamptz,
    PRIMARY KEY (namespace, id),
    CHECK ((value IS NULL) = (version IS NULL))
) WITH (autovacuum_vacuum_scale_factor = 0.01, autovacuum_vacuum_threshold = 1000, autovacuum_vacuum_cost_delay = 0);
CREATE INDEX records_by_end ON {schema}.records (namespace, until) WHERE until IS NOT NULL;

-- Operations that are over, so that their late copies change nothing (D-7).
CREATE TABLE {schema}.ended_ops (
    namespace   bigint NOT NULL,
    id    text COLLATE "C" NOT NULL,
    op    text COLLATE "C" NOT NULL,
    since timestamptz NOT NULL,
    PRIMARY KEY (namespace, id, op)
) WITH (autovacuum_vacuum_scale_factor = 0.01, autovacuum_vacuum_threshold = 1000, autovacuum_vacuum_cost_delay = 0);
CREATE INDEX ended_ops_by_age ON {schema}.ended_ops (namespace, since) WHERE since IS NOT NULL;

-- Tokens: live, or gone and fenced.
CREATE TABLE {schema}.tokens (
    namespace     bigint NOT NULL,
    token   text COLLATE "C" NOT NULL,
    -- Who consumed it; null also for a token that was discarded.
    op      text COLLATE "C",
    gone_at timestamptz,
    PRIMARY KEY (namespace, token)
) WITH (autovacuum_vacuum_scale_factor = 0.01, autovacuum_vacuum_threshold = 1000, autovacuum_vacuum_cost_delay = 0);
CREATE INDEX tokens_by_age ON {schema}.tokens (namespace, gone_at) WHERE gone_at IS NOT NULL;

-- Entities. One that has neither a state nor an entry keeps its version for as long as operations are remembered (E-6).
CREATE TABLE {schema}.entities (
    namespace  bigint NOT NULL,
    key        text COLLATE "C" NOT NULL,
    version    bigint NOT NULL,
    state      bytea,
    -- Since when it has neither.
    emptied_at timestamptz,
    PRIMARY KEY (namespace, key),
    CHECK (state IS NULL OR emptied_at IS NULL)
) WITH (autovacuum_vacuum_scale_factor = 0.01, autovacuum_vacuum_threshold = 1000, autovacuum_vacuum_cost_delay = 0);
CREATE INDEX entities_by_age ON {schema}.entities (namespace, emptied_at) WHERE emptied_at IS NOT NULL;

-- What is left to do for the messages that have changed entities, each beside its entity, which is locked before an entry comes
-- or goes.
CREATE TABLE {schema}.outbox_entries (
    namespace bigint NOT NULL,
    key       text COLLATE "C" NOT NULL,
    message   text COLLATE "C" NOT NULL,
    content   bytea NOT NULL,
    -- The first is the commit that added the entry.
    attempts  text[] COLLATE "C" NOT NULL,
    chosen    text COLLATE "C",
    PRIMARY KEY (namespace, key, message)
) WITH (autovacuum_vacuum_scale_factor = 0.01, autovacuum_vacuum_threshold = 1000, autovacuum_vacuum_cost_delay = 0);

-- The value of a counter, whole or in shards that each have a part of the bounds. `numeric`, because a part may be
-- outside of the range that the total never leaves.
CREATE TABLE {schema}.counters (
    namespace     bigint NOT NULL,
    key     text COLLATE "C" NOT NULL,
    shard   integer NOT NULL,
    value   numeric NOT NULL,
    floor   numeric NOT NULL,
    ceiling numeric NOT NULL,
    -- How many operations a window remembers at present; 0 for the other strategies.
    ops     bigint NOT NULL,
    PRIMARY KEY (namespace, key, shard)
) WITH (
    fillfactor = 50, autovacuum_vacuum_scale_factor = 0.01, autovacuum_vacuum_threshold = 1000, autovacuum_vacuum_cost_delay = 0
);

-- Operations on counters.
CREATE TABLE {schema}.counter_ops (
    namespace    bigint NOT NULL,
    key    text COLLATE "C" NOT NULL,
    op     text COLLATE "C" NOT NULL,
    -- Null for an operation that was cancelled.
    delta  bigint,
    value  bigint,
    at     timestamptz NOT NULL,
    window_of_key boolean NOT NULL,
    PRIMARY KEY (namespace, key, op)
) WITH (autovacuum_vacuum_scale_factor = 0.01, autovacuum_vacuum_threshold = 1000, autovacuum_vacuum_cost_delay = 0);
CREATE INDEX counter_ops_by_age ON {schema}.counter_ops (namespace, at) WHERE at IS NOT NULL;
CREATE INDEX counter_ops_by_key ON {schema}.counter_ops (namespace, key, at) WHERE window_of_key;

-- The newest write of a key; a null value is a tombstone (O-3).
CREATE TABLE {schema}.ordered_values (
    namespace     bigint NOT NULL,
    key     text COLLATE "C" NOT NULL,
    at      bigint NOT NULL,
    writer  text COLLATE "C" NOT NULL,
    value   bytea,
    arrived timestamptz NOT NULL,
    PRIMARY KEY (namespace, key)
) WITH (autovacuum_vacuum_scale_factor = 0.01, autovacuum_vacuum_threshold = 1000, autovacuum_vacuum_cost_delay = 0);
CREATE INDEX tombstones_by_arrival ON {schema}.ordered_values (namespace, arrived) WHERE value IS NULL;
