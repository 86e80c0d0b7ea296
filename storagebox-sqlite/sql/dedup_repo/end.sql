-- D-7 leaves the id vacant and fences the operation that had it.
-- ?1 namespace, ?2 id, ?3 now
INSERT OR REPLACE INTO storagebox_ended_ops (namespace, id, op, since)
SELECT namespace, id, op, ?3 FROM storagebox_records WHERE namespace = ?1 AND id = ?2;
DELETE FROM storagebox_records WHERE namespace = ?1 AND id = ?2
