-- D-1 Replaces the value of a record. `next_number.sql` runs before.
-- ?1 namespace, ?2 id, ?3 value, ?4 op, ?5 version
-- Returns the new version of the record.
UPDATE storagebox_records
SET value = ?3, version = (SELECT last_number FROM storagebox_namespaces WHERE number = ?1), replaced_by = ?4,
    replaced_version = ?5
WHERE namespace = ?1 AND id = ?2;
SELECT last_number FROM storagebox_namespaces WHERE number = ?1
