-- Hands out the message that has been to be had for longest, for so many microseconds.
WITH next AS MATERIALIZED (
    -- A receipt that is still there was never settled.
    SELECT number, lease IS NOT NULL AS has_lapsed FROM {schema}.messages
    WHERE queue = $1 AND parked_at IS NULL AND visible_at <= statement_timestamp()
    ORDER BY visible_at, number LIMIT 1
    FOR UPDATE SKIP LOCKED
)
UPDATE {schema}.messages m
SET visible_at = clock_timestamp() + $2 * interval '1 microsecond',
    attempts = m.attempts + 1,
    lease = nextval('{schema}.leases')
FROM next WHERE m.number = next.number
RETURNING m.number, m.lease, m.attempts, m.id, m.token, m.body,
    CASE WHEN next.has_lapsed THEN m.lone_runs END AS lapsed
