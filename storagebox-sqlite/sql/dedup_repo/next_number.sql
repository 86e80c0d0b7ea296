-- D-5 Increments the namespace's last number. The statements of a record or a lease follow and use the number.
-- The number is also above the numbers in the id's row: after a restore the last number may be older than the row.
-- ?1 namespace, ?2 id
UPDATE storagebox_namespaces
SET last_number = 1 + max(last_number, coalesce((
    SELECT max(coalesce(version, 0), coalesce(fence, 0)) FROM storagebox_records WHERE namespace = ?1 AND id = ?2
), 0))
WHERE number = ?1;
