-- C-06, C-07 the value.
-- ?1 name, ?2 now (not asked), ?3 key
SELECT value FROM storagebox_counters
WHERE box = (SELECT number FROM storagebox_boxes WHERE kind = 'counters' AND name = ?1) AND key = ?3
