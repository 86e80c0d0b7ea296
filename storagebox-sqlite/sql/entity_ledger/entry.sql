-- E-3, E-4, E-7 Reads the entry of a message, if this commit added it.
-- ?1 namespace, ?2 key, ?3 message, ?4 commit
SELECT op, later, chosen, content FROM storagebox_entries
WHERE namespace = ?1 AND key = ?2 AND message = ?3 AND op = ?4
