-- D-05 records the result of a lease. Shows its version.
-- ?1 box, ?2 id, ?3 value, ?4 until
UPDATE storagebox_boxes SET last_number = last_number + 1 WHERE number = ?1;
UPDATE storagebox_records
SET state = 'done', value = ?3, version = (SELECT last_number FROM storagebox_boxes WHERE number = ?1), until = ?4
WHERE box = ?1 AND id = ?2;
SELECT last_number FROM storagebox_boxes WHERE number = ?1
