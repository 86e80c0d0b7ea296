-- How many messages of a queue are parked.
SELECT count(*) FROM {schema}.messages WHERE queue = $1 AND parked_at IS NOT NULL
