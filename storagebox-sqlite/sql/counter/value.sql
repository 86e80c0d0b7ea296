-- C-06, C-07 the value.
-- ?1 box, ?2 now (not asked), ?3 key
SELECT value FROM storagebox_counters WHERE box = ?1 AND key = ?3
