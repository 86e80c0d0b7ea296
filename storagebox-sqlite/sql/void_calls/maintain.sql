-- S-2 Deletes void calls that are past their time.
-- ?1 now, ?2 limit
-- Returns the number of deleted rows.
DELETE FROM storagebox_void_calls WHERE (namespace, key, id) IN (
    SELECT namespace, key, id FROM storagebox_void_calls WHERE ends <= ?1 ORDER BY ends LIMIT ?2
);
SELECT changes()
