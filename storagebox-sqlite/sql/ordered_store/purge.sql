-- O-3 Purges tombstones that arrived at `?2` or before. With time stamps, their stamps must also be below the horizon.
-- ?1 namespace, ?2 arrived, ?3 horizon in milliseconds, or null with sequence numbers, ?4 limit
DELETE FROM storagebox_ordered_values WHERE rowid IN (
    SELECT rowid FROM storagebox_ordered_values INDEXED BY storagebox_tombstones_by_arrival
    WHERE namespace = ?1 AND value IS NULL AND arrived <= ?2 AND (?3 IS NULL OR at < ?3) ORDER BY arrived LIMIT ?4
)
