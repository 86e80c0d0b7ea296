-- Removes operations of one counter that are past their retention, never before.
-- ?1 box, ?2 key, ?3 forgotten
DELETE FROM storagebox_counter_ops WHERE box = ?1 AND key = ?2 AND at <= ?3
