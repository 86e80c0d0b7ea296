-- Parks a message, if $2 is the receipt of its last delivery.
UPDATE {schema}.messages SET parked_at = clock_timestamp(), lease = NULL, lone_runs = 0 WHERE number = $1 AND lease = $2
