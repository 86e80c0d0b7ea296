-- C-6, C-7 Reads the value of a counter.
-- ?1 name, ?2 now (unused), ?3 key
SELECT value FROM storagebox_counters
WHERE namespace = (SELECT number FROM storagebox_namespaces WHERE kind = 'counters' AND name = ?1) AND key = ?3
