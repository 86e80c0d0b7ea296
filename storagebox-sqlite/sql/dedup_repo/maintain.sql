-- S-2 removes at most so many records: what is done and over, leaving its fence, and leases that lapsed longer ago than
-- operations are remembered.
-- ?1 now, ?2 forgotten, ?3 limit
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
