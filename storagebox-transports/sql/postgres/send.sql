-- Sends messages, all or none. `unnest` has no schema before its name, because `unnest` of several arrays is syntax and
-- not a function.
INSERT INTO {schema}.messages (queue, id, token, body)
SELECT * FROM unnest($1::text[], $2::text[], $3::text[], $4::bytea[])
