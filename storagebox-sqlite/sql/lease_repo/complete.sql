-- D-5 Records the result of a lease. `next_number.sql` runs before.
-- ?1 namespace, ?2 id, ?3 value, ?4 until
-- Returns the version of the record.
UPDATE storagebox_records
SET state = 'done', value = ?3, version = (SELECT last_number FROM storagebox_namespaces WHERE number = ?1), until = ?4,
    replaced_version = NULL
WHERE namespace = ?1 AND id = ?2;
SELECT last_number FROM storagebox_namespaces WHERE number = ?1
