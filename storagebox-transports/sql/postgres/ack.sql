-- Forgets a message, if the receipt is still that of the last handing out.
DELETE FROM {schema}.messages WHERE number = $1 AND lease = $2
