-- O-3 the value, if the newest write is not a delete.
-- ?1 name, ?2 now (not asked), ?3 key
SELECT value, at, writer FROM storagebox_ordered_values
WHERE namespace = (SELECT number FROM storagebox_namespaces WHERE kind = 'ordered' AND name = ?1)
  AND key = ?3 AND value IS NOT NULL
