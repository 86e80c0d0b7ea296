-- S-02, D-07 removes at most so many fences of operations that are over for longer than that is remembered.
-- ?1 forgotten, ?2 limit
DELETE FROM storagebox_ended_ops WHERE (box, id, op) IN (
    SELECT box, id, op FROM storagebox_ended_ops WHERE since <= ?1 ORDER BY since LIMIT ?2
);
SELECT changes()
