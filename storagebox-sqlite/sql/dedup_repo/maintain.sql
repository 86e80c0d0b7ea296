-- S-2 Deletes expired records, and fences their operations. Deletes lapsed leases whose memory is over.
-- ?1 now, ?2 forgotten, ?3 limit
-- Returns the number of deleted rows.
INSERT OR REPLACE INTO storagebox_ended_ops (namespace, id, op, since)
SELECT namespace, id, op, ?1 FROM storagebox_records WHERE state = 'done' AND rowid IN (
    SELECT rowid FROM storagebox_records
    WHERE until <= ?1 AND (state = 'done' OR until <= ?2) ORDER BY until, rowid LIMIT ?3
);
DELETE FROM storagebox_records WHERE rowid IN (
    SELECT rowid FROM storagebox_records
    WHERE until <= ?1 AND (state = 'done' OR until <= ?2) ORDER BY until, rowid LIMIT ?3
);
SELECT changes()
