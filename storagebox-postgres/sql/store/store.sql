-- The store, in one row. Its epoch is random, so that a schema that is created again is another store.
-- Its memory holds for all processes: for how long ended operations, claims and tokens are remembered, in microseconds.
-- Null means for ever.
CREATE TABLE IF NOT EXISTS {schema}.store (
    epoch  bigint PRIMARY KEY,
    memory bigint
);
