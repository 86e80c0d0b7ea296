-- Counts a lone run of a message, if $2 is the receipt of its last delivery.
UPDATE {schema}.messages SET lone_runs = lone_runs + 1 WHERE number = $1 AND lease = $2
