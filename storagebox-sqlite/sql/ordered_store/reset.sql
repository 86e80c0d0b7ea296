-- O-6 removes a key whose stamp is the one that the call named, value or tombstone.
-- ?1 namespace, ?2 key
DELETE FROM storagebox_ordered_values WHERE namespace = ?1 AND key = ?2
