-- Version 1: the tables. Text is compared by bytes (V-2), whatever the collation of the database is.
-- Every index except the keys has a condition that all its rows meet and that no lookup by key contains. So no plan
-- uses an index by age to look up a key, not even a plan that was made for an empty table.
-- No CHECK contains a string: every statement that writes a row parses the CHECK again, which is slow for strings.
-- Rows come and go in all of these tables except `namespaces`, so all are vacuumed alike: early, and without delays.
-- `namespace` is the first eight bytes of a SHA-256 over the kind and the name. So no call has to look up a number, and
-- no number is ever used for another namespace.

CREATE TABLE {schema}.namespaces (
    namespace     bigint PRIMARY KEY,
    kind    text COLLATE "C" NOT NULL,
    name    text COLLATE "C" NOT NULL,
    -- How the namespace was created (S-4), as text.
    options text COLLATE "C" NOT NULL,
    -- How long operations (counters) or tombstones (ordered values) are kept, in microseconds. Null is for ever.
    keeps   bigint,
    -- Random, so that a namespace that was deleted and created again has another epoch.
    epoch   bigint NOT NULL,
    UNIQUE (kind, name)
);

-- Free items. `h` is the first eight bytes of the item's SHA-256. Each taker begins at its own place among the hashes.
CREATE TABLE {schema}.free_items (
    bank bigint NOT NULL,
    h    bigint NOT NULL,
    item text COLLATE "C" NOT NULL,
    PRIMARY KEY (bank, h, item)
) WITH (autovacuum_vacuum_scale_factor = 0.01, autovacuum_vacuum_threshold = 1000, autovacuum_vacuum_cost_delay = 0);

-- Which of a bank's 512 sections may have free items: one bit per section, 64 in a row. A section is a range of `h`.
CREATE TABLE {schema}.bank_sections (
    bank bigint NOT NULL,
    part integer NOT NULL,
    bits bigint NOT NULL,
    PRIMARY KEY (bank, part)
) WITH (
    fillfactor = 10, autovacuum_vacuum_scale_factor = 0.01, autovacuum_vacuum_threshold = 1000, autovacuum_vacuum_cost_delay = 0
);

-- Which cells of a section may have free items: one bit per cell. Cells are equal parts of a section. A section that
-- has had more items has more cells.
CREATE TABLE {schema}.bank_cells (
    bank    bigint NOT NULL,
    section integer NOT NULL,
    cells   bit varying NOT NULL,
    PRIMARY KEY (bank, section)
) WITH (
    fillfactor = 10, autovacuum_vacuum_scale_factor = 0.01, autovacuum_vacuum_threshold = 1000, autovacuum_vacuum_cost_delay = 0
);

-- Claims that hold an item, claims that have spent one, and the fences of ended claims (IB-7).
CREATE TABLE {schema}.claims (
    bank     bigint NOT NULL,
    -- Null after a confirmed claim was retired: its item stays spent.
    claim    text COLLATE "C",
    -- held or spent: the claim has an item; released or expired: the claim has ended
    state    text COLLATE "C" NOT NULL,
    h        bigint,
    item     text COLLATE "C",
    -- The end of the hold, exclusive. Null is for ever.
    until    timestamptz,
    ended_at timestamptz,
    CHECK ((item IS NULL) <> (ended_at IS NULL))
) WITH (autovacuum_vacuum_scale_factor = 0.01, autovacuum_vacuum_threshold = 1000, autovacuum_vacuum_cost_delay = 0);
CREATE UNIQUE INDEX claims_by_claim ON {schema}.claims (bank, claim);
CREATE INDEX claims_by_item ON {schema}.claims (bank, h) WHERE item IS NOT NULL;
CREATE INDEX claims_by_end ON {schema}.claims (bank, until) WHERE until IS NOT NULL;
CREATE INDEX claims_by_age ON {schema}.claims (bank, ended_at) WHERE ended_at IS NOT NULL;

-- The bound from which takers look for lapsed holds. No hold in `claims` ends before it.
CREATE TABLE {schema}.bank_lapses (
    bank  bigint PRIMARY KEY,
    since timestamptz NOT NULL
) WITH (
    fillfactor = 10, autovacuum_vacuum_scale_factor = 0.01, autovacuum_vacuum_threshold = 1000, autovacuum_vacuum_cost_delay = 0
);

-- Withdrawn items.
CREATE TABLE {schema}.withdrawn_items (
    bank bigint NOT NULL,
    h    bigint NOT NULL,
    item text COLLATE "C" NOT NULL,
    PRIMARY KEY (bank, h, item)
) WITH (autovacuum_vacuum_scale_factor = 0.01, autovacuum_vacuum_threshold = 1000, autovacuum_vacuum_cost_delay = 0);

-- The versions and fences of all ids and entities. None repeats, also after a row is forgotten (D-5, D-7, E-6).
CREATE SEQUENCE {schema}.numbers;

-- The record of an id, or the lease of the operation that works for the id.
CREATE TABLE {schema}.records (
    namespace              bigint NOT NULL,
    id               text COLLATE "C" NOT NULL,
    -- leased: the row has a fence; done: the row has a value
    state            text COLLATE "C" NOT NULL,
    -- The operation that recorded the first value, or that has the lease.
    op               text COLLATE "C" NOT NULL,
    value            bytea,
    version          bigint,
    fence            bigint,
    fingerprint      text COLLATE "C",
    -- The operation that wrote the current value by a replace, and the version that it replaced.
    replaced_by      text COLLATE "C",
    replaced_version bigint,
    -- The end of the lease or of the retention. Null is for ever.
    until            timestamptz,
    PRIMARY KEY (namespace, id),
    CHECK ((value IS NULL) = (version IS NULL))
) WITH (autovacuum_vacuum_scale_factor = 0.01, autovacuum_vacuum_threshold = 1000, autovacuum_vacuum_cost_delay = 0);
CREATE INDEX records_by_end ON {schema}.records (namespace, until) WHERE until IS NOT NULL;

-- Ended operations, so that late copies of them change nothing (D-7).
CREATE TABLE {schema}.ended_ops (
    namespace   bigint NOT NULL,
    id    text COLLATE "C" NOT NULL,
    op    text COLLATE "C" NOT NULL,
    since timestamptz NOT NULL,
    PRIMARY KEY (namespace, id, op)
) WITH (autovacuum_vacuum_scale_factor = 0.01, autovacuum_vacuum_threshold = 1000, autovacuum_vacuum_cost_delay = 0);
CREATE INDEX ended_ops_by_age ON {schema}.ended_ops (namespace, since) WHERE since IS NOT NULL;

-- Live tokens, and gone tokens, which are fenced.
CREATE TABLE {schema}.tokens (
    namespace     bigint NOT NULL,
    token   text COLLATE "C" NOT NULL,
    -- The operation that consumed the token. Null if the token is live or was discarded.
    op      text COLLATE "C",
    gone_at timestamptz,
    PRIMARY KEY (namespace, token)
) WITH (autovacuum_vacuum_scale_factor = 0.01, autovacuum_vacuum_threshold = 1000, autovacuum_vacuum_cost_delay = 0);
CREATE INDEX tokens_by_age ON {schema}.tokens (namespace, gone_at) WHERE gone_at IS NOT NULL;

-- Entities. An entity without state and entry keeps its version for as long as operations are remembered (E-6).
CREATE TABLE {schema}.entities (
    namespace  bigint NOT NULL,
    key        text COLLATE "C" NOT NULL,
    version    bigint NOT NULL,
    state      bytea,
    -- Since when the entity has neither state nor entry.
    emptied_at timestamptz,
    PRIMARY KEY (namespace, key),
    CHECK (state IS NULL OR emptied_at IS NULL)
) WITH (autovacuum_vacuum_scale_factor = 0.01, autovacuum_vacuum_threshold = 1000, autovacuum_vacuum_cost_delay = 0);
CREATE INDEX entities_by_age ON {schema}.entities (namespace, emptied_at) WHERE emptied_at IS NOT NULL;

-- The entries of messages. The entity is locked before an entry is inserted or deleted.
CREATE TABLE {schema}.outbox_entries (
    namespace bigint NOT NULL,
    key       text COLLATE "C" NOT NULL,
    message   text COLLATE "C" NOT NULL,
    content   bytea NOT NULL,
    -- The first attempt is the commit that added the entry.
    attempts  text[] COLLATE "C" NOT NULL,
    chosen    text COLLATE "C",
    PRIMARY KEY (namespace, key, message)
) WITH (autovacuum_vacuum_scale_factor = 0.01, autovacuum_vacuum_threshold = 1000, autovacuum_vacuum_cost_delay = 0);

-- The values of counters, in one shard or in several that each have a part of the bounds. `numeric`, because a part can
-- be outside the range of a total.
CREATE TABLE {schema}.counters (
    namespace     bigint NOT NULL,
    key     text COLLATE "C" NOT NULL,
    shard   integer NOT NULL,
    value   numeric NOT NULL,
    floor   numeric NOT NULL,
    ceiling numeric NOT NULL,
    -- The number of operations that a window remembers. 0 for the other strategies.
    ops     bigint NOT NULL,
    PRIMARY KEY (namespace, key, shard)
) WITH (
    fillfactor = 50, autovacuum_vacuum_scale_factor = 0.01, autovacuum_vacuum_threshold = 1000, autovacuum_vacuum_cost_delay = 0
);

-- Operations on counters, applied and cancelled.
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

-- The newest write of each key. A null value is a tombstone (O-3).
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
