-- Returns the number of parked messages of a queue.
SELECT count(*) FROM {schema}.messages WHERE queue = $1 AND parked_at IS NOT NULL
