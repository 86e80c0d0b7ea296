-- D-07 leaves the id vacant and fences the operation that had it.
-- ?1 box, ?2 id, ?3 now
INSERT OR REPLACE INTO storagebox_ended_ops (box, id, op, since)
SELECT box, id, op, ?3 FROM storagebox_records WHERE box = ?1 AND id = ?2;
DELETE FROM storagebox_records WHERE box = ?1 AND id = ?2
