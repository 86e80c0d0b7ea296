-- E-5 Lists the entries of all entities, in the order of their keys and messages.
-- ?1 name, ?2 now (unused), ?3 key and ?4 message of the last listed entry, ?5 limit
SELECT key, message, op FROM storagebox_entries
WHERE namespace = (SELECT number FROM storagebox_namespaces WHERE kind = 'entities' AND name = ?1)
  AND (key, message) > (?3, ?4)
ORDER BY key, message LIMIT ?5
