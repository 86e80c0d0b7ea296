-- D-5 gives the namespace's next number, before what a record or a lease writes. It is above the numbers in the row too: after a
-- restore the namespace's last number may be older than the row.
-- ?1 namespace, ?2 id
UPDATE storagebox_namespaces
SET last_number = 1 + max(last_number, coalesce((
    SELECT max(coalesce(version, 0), coalesce(fence, 0)) FROM storagebox_records WHERE namespace = ?1 AND id = ?2
), 0))
WHERE number = ?1;
