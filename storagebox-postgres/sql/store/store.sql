-- What the store is, in one row. Its epoch is made by chance, so that a schema that was made anew is not taken for the one before it;
-- how long what has ended is remembered, in microseconds, is everybody's; null is for ever.
CREATE TABLE IF NOT EXISTS {schema}.store (
    epoch  bigint PRIMARY KEY,
    memory bigint
);
