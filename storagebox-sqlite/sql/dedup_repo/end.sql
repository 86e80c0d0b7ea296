-- D-7 Deletes the record of an id and fences its operation.
-- ?1 namespace, ?2 id, ?3 now
INSERT OR REPLACE INTO storagebox_ended_ops (namespace, id, op, since)
SELECT namespace, id, op, ?3 FROM storagebox_records WHERE namespace = ?1 AND id = ?2;
DELETE FROM storagebox_records WHERE namespace = ?1 AND id = ?2
