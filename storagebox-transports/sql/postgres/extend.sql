-- Makes a lease last longer, never shorter, if the receipt is still that of the last handing out.
UPDATE {schema}.messages
SET visible_at = greatest(visible_at, clock_timestamp() + $3 * interval '1 microsecond')
WHERE number = $1 AND lease = $2
