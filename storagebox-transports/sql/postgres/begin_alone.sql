-- Counts a run alone, if the receipt is still that of the last handing out.
UPDATE {schema}.messages SET lone_runs = lone_runs + 1 WHERE number = $1 AND lease = $2
