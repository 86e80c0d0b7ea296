-- D-5 records the result of a lease. Shows its version.
-- ?1 namespace, ?2 id, ?3 value, ?4 until
UPDATE storagebox_records
SET state = 'done', value = ?3, version = (SELECT last_number FROM storagebox_namespaces WHERE number = ?1), until = ?4,
    replaced_version = NULL
WHERE namespace = ?1 AND id = ?2;
SELECT last_number FROM storagebox_namespaces WHERE number = ?1
