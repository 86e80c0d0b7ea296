-- O-3 removes at most so many tombstones that arrived by then; with time stamps none whose stamp would still be accepted again
-- (`?3`, in milliseconds; null with sequence numbers).
-- ?1 namespace, ?2 arrived, ?3 horizon, ?4 limit
DELETE FROM storagebox_ordered_values WHERE rowid IN (
    SELECT rowid FROM storagebox_ordered_values INDEXED BY storagebox_tombstones_by_arrival
    WHERE namespace = ?1 AND value IS NULL AND arrived <= ?2 AND (?3 IS NULL OR at < ?3) ORDER BY arrived LIMIT ?4
)
