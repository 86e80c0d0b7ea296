-- Sends the oldest parked messages of a queue again, $2 at most. Their attempts begin at zero.
WITH oldest AS MATERIALIZED (
    SELECT number FROM {schema}.messages
    WHERE queue = $1 AND parked_at IS NOT NULL
    ORDER BY number LIMIT $2
    FOR UPDATE SKIP LOCKED
)
UPDATE {schema}.messages m SET parked_at = NULL, attempts = 0, visible_at = clock_timestamp()
FROM oldest WHERE m.number = oldest.number
