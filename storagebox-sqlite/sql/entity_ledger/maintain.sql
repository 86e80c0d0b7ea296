-- S-2, E-6 Deletes entities without state and entry whose memory is over.
-- ?1 forgotten, ?2 limit
-- Returns the number of deleted entities.
DELETE FROM storagebox_entities WHERE rowid IN (
    SELECT rowid FROM storagebox_entities WHERE gone_at <= ?1 ORDER BY gone_at LIMIT ?2
);
SELECT changes()
