-- C-3, C-5, C-8, ER-5 Reads a counter, one operation on it, and the void calls of that operation.
-- ?1 namespace, ?2 key, ?3 op, ?4 now
-- Always returns one row: 0 and 0 if there is no counter, nulls if there is no operation or no void call.
SELECT coalesce(c.value, 0) AS total, coalesce(c.ops, 0) AS ops, o.delta, o.value, o.at, v.calls, v.refusal
FROM (SELECT 1)
LEFT JOIN storagebox_counters c ON c.namespace = ?1 AND c.key = ?2
LEFT JOIN storagebox_counter_ops o ON o.namespace = ?1 AND o.key = ?2 AND o.op = ?3
LEFT JOIN storagebox_void_calls v ON v.namespace = ?1 AND v.key = ?2 AND v.id = ?3 AND v.ends > ?4
