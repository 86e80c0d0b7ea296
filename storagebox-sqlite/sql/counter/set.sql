-- C-01 the value of a counter, and how many of its operations are stored.
-- ?1 box, ?2 key, ?3 value, ?4 ops
INSERT INTO storagebox_counters (box, key, value, ops) VALUES (?1, ?2, ?3, ?4)
ON CONFLICT (box, key) DO UPDATE SET value = ?3, ops = ?4
