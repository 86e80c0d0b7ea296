-- E-4 Writes the attempts of an entry, except the first.
-- ?1 namespace, ?2 key, ?3 message, ?4 attempts as JSON
UPDATE storagebox_entries SET later = ?4 WHERE namespace = ?1 AND key = ?2 AND message = ?3
