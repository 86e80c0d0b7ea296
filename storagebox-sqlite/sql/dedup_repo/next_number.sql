-- D-5 Increments the namespace's last number, which the statement after this one gives to a record or a lease. The new
-- number is also above the numbers in the id's row, because a restore may have set the last number back.
-- ?1 namespace, ?2 id
UPDATE storagebox_namespaces
SET last_number = 1 + max(last_number, coalesce((
    SELECT max(coalesce(version, 0), coalesce(fence, 0)) FROM storagebox_records WHERE namespace = ?1 AND id = ?2
), 0))
WHERE number = ?1;
