-- E-3, E-4, E-7 the message's entry, if it is the one that this commit added.
-- ?1 namespace, ?2 key, ?3 message, ?4 commit
SELECT op, later, chosen, content FROM storagebox_entries
WHERE namespace = ?1 AND key = ?2 AND message = ?3 AND op = ?4
