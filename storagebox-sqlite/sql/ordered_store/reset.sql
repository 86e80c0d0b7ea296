-- O-6 Deletes the value or the tombstone of a key. The caller has compared the stamp.
-- ?1 namespace, ?2 key
DELETE FROM storagebox_ordered_values WHERE namespace = ?1 AND key = ?2
