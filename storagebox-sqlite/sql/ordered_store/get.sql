-- O-3 Reads the value of a key.
-- ?1 name, ?2 now (unused), ?3 key
-- Returns no row if the newest write is a delete.
SELECT value, at, writer FROM storagebox_ordered_values
WHERE namespace = (SELECT number FROM storagebox_namespaces WHERE kind = 'ordered' AND name = ?1)
  AND key = ?3 AND value IS NOT NULL
