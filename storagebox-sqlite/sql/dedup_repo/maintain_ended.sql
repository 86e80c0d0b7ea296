-- S-2, D-7 Deletes the fences of operations whose memory is over.
-- ?1 forgotten, ?2 limit
-- Returns the number of deleted fences.
DELETE FROM storagebox_ended_ops WHERE (namespace, id, op) IN (
    SELECT namespace, id, op FROM storagebox_ended_ops WHERE since <= ?1 ORDER BY since LIMIT ?2
);
SELECT changes()
