-- Takes the message that has been available for longest, with a lease of $2 microseconds. Returns it, or no row if none
-- is available. `lapsed` is its number of lone runs if its last delivery was not settled, and null otherwise.
WITH next AS MATERIALIZED (
    -- A settlement deletes the receipt, so the last delivery of a row with a receipt was not settled.
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
