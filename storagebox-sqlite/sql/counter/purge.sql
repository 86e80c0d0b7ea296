-- Deletes the operations of one counter that are past their retention.
-- ?1 namespace, ?2 key, ?3 forgotten
DELETE FROM storagebox_counter_ops WHERE namespace = ?1 AND key = ?2 AND at <= ?3
