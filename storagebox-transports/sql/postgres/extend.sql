-- Extends a lease to $3 microseconds from now, if $2 is the receipt of the last delivery. Never shortens the lease.
UPDATE {schema}.messages
SET visible_at = greatest(visible_at, clock_timestamp() + $3 * interval '1 microsecond')
WHERE number = $1 AND lease = $2
