-- O-1, O-3 Writes the newest write of a key. A null value is a tombstone.
-- ?1 namespace, ?2 key, ?3 at, ?4 writer, ?5 value, ?6 now
INSERT INTO storagebox_ordered_values (namespace, key, at, writer, value, arrived) VALUES (?1, ?2, ?3, ?4, ?5, ?6)
ON CONFLICT (namespace, key) DO UPDATE SET at = ?3, writer = ?4, value = ?5, arrived = ?6
