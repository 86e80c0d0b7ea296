-- Makes a message available again after $3 microseconds, if $2 is the receipt of its last delivery.
UPDATE {schema}.messages
SET visible_at = clock_timestamp() + $3 * interval '1 microsecond', lease = NULL, lone_runs = 0
WHERE number = $1 AND lease = $2
