-- C-1 Writes the value of a counter and the number of its stored operations.
-- ?1 namespace, ?2 key, ?3 value, ?4 ops
INSERT INTO storagebox_counters (namespace, key, value, ops) VALUES (?1, ?2, ?3, ?4)
ON CONFLICT (namespace, key) DO UPDATE SET value = ?3, ops = ?4
