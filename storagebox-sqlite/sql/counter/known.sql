-- C-3, C-5, C-8 Reads a counter and one operation on it.
-- ?1 namespace, ?2 key, ?3 op
-- Returns always one row: 0 and 0 if there is no counter, nulls if there is no operation.
SELECT coalesce(c.value, 0) AS total, coalesce(c.ops, 0) AS ops, o.delta, o.value, o.at
FROM (SELECT 1)
LEFT JOIN storagebox_counters c ON c.namespace = ?1 AND c.key = ?2
LEFT JOIN storagebox_counter_ops o ON o.namespace = ?1 AND o.key = ?2 AND o.op = ?3
