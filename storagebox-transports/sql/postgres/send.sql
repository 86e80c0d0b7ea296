-- Sends messages, all or none. `unnest` of several arrays is a construct of the grammar, so it takes no schema.
INSERT INTO {schema}.messages (queue, id, token, body)
SELECT * FROM unnest($1::text[], $2::text[], $3::text[], $4::bytea[])
