-- ER-5 Deletes the void calls of a claim or an operation.
-- ?1 namespace, ?2 key, ?3 id
DELETE FROM storagebox_void_calls WHERE namespace = ?1 AND key = ?2 AND id = ?3
