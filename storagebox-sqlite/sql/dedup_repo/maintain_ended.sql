-- S-2, D-7 removes at most so many fences of operations that are over for longer than that is remembered.
-- ?1 forgotten, ?2 limit
DELETE FROM storagebox_ended_ops WHERE (namespace, id, op) IN (
    SELECT namespace, id, op FROM storagebox_ended_ops WHERE since <= ?1 ORDER BY since LIMIT ?2
);
SELECT changes()
