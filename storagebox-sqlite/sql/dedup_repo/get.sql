-- D-04 the record, if its retention is not over.
-- ?1 box, ?2 now, ?3 id
SELECT value, version FROM storagebox_records
WHERE box = ?1 AND id = ?3 AND state = 'done' AND (until IS NULL OR until > ?2)
