-- S-2 Deletes operations that are past their retention, and corrects the number of operations in their counters.
-- ?1 now, ?2 limit
-- Returns the number of deleted operations.
UPDATE storagebox_counters SET ops = ops - gone.removed FROM (
    SELECT o.namespace, o.key, count(*) AS removed FROM (
        SELECT o.namespace, o.key FROM storagebox_namespaces b
        CROSS JOIN storagebox_counter_ops o INDEXED BY storagebox_counter_ops_by_age
            ON o.namespace = b.number AND o.at <= ?1 - b.keeps
        LIMIT ?2
    ) o GROUP BY o.namespace, o.key
) gone WHERE storagebox_counters.namespace = gone.namespace AND storagebox_counters.key = gone.key;
DELETE FROM storagebox_counter_ops WHERE (namespace, key, op) IN (
    SELECT o.namespace, o.key, o.op FROM storagebox_namespaces b
    CROSS JOIN storagebox_counter_ops o INDEXED BY storagebox_counter_ops_by_age
        ON o.namespace = b.number AND o.at <= ?1 - b.keeps
    LIMIT ?2
);
SELECT changes()
