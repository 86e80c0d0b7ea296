-- D-6, D-7 Ends a lease that inherited its fingerprint, and fences its operation. The row keeps the fingerprint. It
-- becomes a lapsed lease with an empty operation id, which no operation has.
-- ?1 namespace, ?2 id, ?3 now
INSERT OR REPLACE INTO storagebox_ended_ops (namespace, id, op, since)
SELECT namespace, id, op, ?3 FROM storagebox_records WHERE namespace = ?1 AND id = ?2;
UPDATE storagebox_records SET op = '', until = ?3 WHERE namespace = ?1 AND id = ?2
