-- S-2, E-6 removes at most so many entities that are gone for longer than that is remembered.
-- ?1 forgotten, ?2 limit
DELETE FROM storagebox_entities WHERE rowid IN (
    SELECT rowid FROM storagebox_entities WHERE gone_at <= ?1 ORDER BY gone_at LIMIT ?2
);
SELECT changes()
