-- D-7 Reads the record or the lease of an id, and when an operation on the id ended.
-- ?1 namespace, ?2 id, ?3 op
-- Always returns one row, with nulls for a row that does not exist.
SELECT r.state, r.op, r.value, r.version, r.fence, r.fingerprint, r.replaced_by, r.replaced_version, r.until,
       e.since AS ended
FROM (SELECT 1)
LEFT JOIN storagebox_records r ON r.namespace = ?1 AND r.id = ?2
LEFT JOIN storagebox_ended_ops e ON e.namespace = ?1 AND e.id = ?2 AND e.op = ?3
