-- D-6, D-7 fences the operation that has the lease. The id keeps the fingerprint that the lease inherited, as a lapsed
-- lease of no operation: ids of operations are never empty.
-- ?1 namespace, ?2 id, ?3 now
INSERT OR REPLACE INTO storagebox_ended_ops (namespace, id, op, since)
SELECT namespace, id, op, ?3 FROM storagebox_records WHERE namespace = ?1 AND id = ?2;
UPDATE storagebox_records SET op = '', until = ?3 WHERE namespace = ?1 AND id = ?2
