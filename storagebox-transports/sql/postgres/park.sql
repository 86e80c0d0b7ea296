-- Sets a message aside, if the receipt is still that of the last handing out.
UPDATE {schema}.messages SET parked_at = clock_timestamp(), lease = NULL, lone_runs = 0 WHERE number = $1 AND lease = $2
