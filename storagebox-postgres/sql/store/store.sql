-- The store, in one row. Its epoch is random, so that a schema that is created again is another store.
-- Its memory holds for all processes: how long what has ended is remembered, in microseconds. Null is for ever.
CREATE TABLE IF NOT EXISTS {schema}.store (
    epoch  bigint PRIMARY KEY,
    memory bigint
);
