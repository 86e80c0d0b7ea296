-- C-1 Stores an operation, in the transaction of its effect. Replaces a forgotten operation with the same id.
-- ?1 namespace, ?2 key, ?3 op, ?4 delta, ?5 value, ?6 now
INSERT OR REPLACE INTO storagebox_counter_ops (namespace, key, op, delta, value, at) VALUES (?1, ?2, ?3, ?4, ?5, ?6)
