-- O-3 the values in the order of their keys, no tombstone among them. No key is longer than 128 of the greatest characters,
-- so that is the end of those that begin with the prefix.
-- ?1 name, ?2 now (not asked), ?3 after, ?4 limit, ?5 prefix, ?6 end of the prefix
SELECT key, value, at, writer FROM storagebox_ordered_values
WHERE namespace = (SELECT number FROM storagebox_namespaces WHERE kind = 'ordered' AND name = ?1)
  AND key > ?3 AND key >= ?5 AND key <= ?6 AND value IS NOT NULL
ORDER BY key LIMIT ?4
