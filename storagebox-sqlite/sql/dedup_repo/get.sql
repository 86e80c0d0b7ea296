-- D-4 Reads a record that has not expired.
-- ?1 name, ?2 now, ?3 id
SELECT value, version FROM storagebox_records
WHERE namespace = (SELECT number FROM storagebox_namespaces WHERE kind = 'records' AND name = ?1)
  AND id = ?3 AND state = 'done' AND (until IS NULL OR until > ?2)
