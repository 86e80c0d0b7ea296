-- Deletes a message, if $2 is the receipt of its last delivery.
DELETE FROM {schema}.messages WHERE number = $1 AND lease = $2
