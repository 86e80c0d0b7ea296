-- E-3 Chooses an attempt of a message's entry.
-- ?1 namespace, ?2 key, ?3 message, ?4 attempt
UPDATE storagebox_entries SET chosen = ?4 WHERE namespace = ?1 AND key = ?2 AND message = ?3
