-- O-3 Lists the values whose keys begin with the prefix, in the order of their keys, without tombstones.
-- The end of the prefix is the prefix and 128 times U+10FFFF, which no key with the prefix exceeds.
-- ?1 name, ?2 now (unused), ?3 after, ?4 limit, ?5 prefix, ?6 end of the prefix
SELECT key, value, at, writer FROM storagebox_ordered_values
WHERE namespace = (SELECT number FROM storagebox_namespaces WHERE kind = 'ordered' AND name = ?1)
  AND key > ?3 AND key >= ?5 AND key <= ?6 AND value IS NOT NULL
ORDER BY key LIMIT ?4
