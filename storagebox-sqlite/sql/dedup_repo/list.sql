-- D-4 Lists the records that have not expired, in the order of their ids.
-- ?1 name, ?2 now, ?3 after, ?4 limit
SELECT id, value, version FROM storagebox_records
WHERE namespace = (SELECT number FROM storagebox_namespaces WHERE kind = 'records' AND name = ?1)
  AND id > ?3 AND state = 'done' AND (until IS NULL OR until > ?2)
ORDER BY id LIMIT ?4
