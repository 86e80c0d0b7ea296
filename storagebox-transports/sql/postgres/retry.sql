-- Hands a message out again after so many microseconds, if the receipt is still that of the last handing out.
UPDATE {schema}.messages
SET visible_at = clock_timestamp() + $3 * interval '1 microsecond', lease = NULL, lone_runs = 0
WHERE number = $1 AND lease = $2
