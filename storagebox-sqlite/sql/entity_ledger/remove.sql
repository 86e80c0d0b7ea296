-- E-7 removes the message's entry, if it is the one that this commit added.
-- ?1 namespace, ?2 key, ?3 message, ?4 commit
DELETE FROM storagebox_entries WHERE namespace = ?1 AND key = ?2 AND message = ?3 AND op = ?4
