-- D-04 the record, if its retention is not over.
-- ?1 name, ?2 now, ?3 id
SELECT value, version FROM storagebox_records
WHERE box = (SELECT number FROM storagebox_boxes WHERE kind = 'records' AND name = ?1)
  AND id = ?3 AND state = 'done' AND (until IS NULL OR until > ?2)
