-- C-6, C-7 the value.
-- ?1 name, ?2 now (not asked), ?3 key
SELECT value FROM storagebox_counters
WHERE namespace = (SELECT number FROM storagebox_namespaces WHERE kind = 'counters' AND name = ?1) AND key = ?3
