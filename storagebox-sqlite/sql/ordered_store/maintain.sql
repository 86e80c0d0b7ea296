-- S-2, O-3 Purges tombstones that are past their age, in namespaces with time stamps.
-- ?1 now, ?2 limit
-- Returns the number of purged tombstones.
DELETE FROM storagebox_ordered_values WHERE rowid IN (
    SELECT o.rowid FROM storagebox_namespaces b
    CROSS JOIN storagebox_ordered_values o INDEXED BY storagebox_tombstones_by_arrival
        ON o.namespace = b.number AND o.value IS NULL AND o.arrived <= ?1 - b.keeps AND o.at < (?1 - b.keeps) / 1000
    WHERE b.kind = 'ordered' LIMIT ?2
);
SELECT changes()
