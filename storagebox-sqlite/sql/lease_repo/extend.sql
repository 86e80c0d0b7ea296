-- D-5 makes a lease last longer, never shorter.
-- ?1 namespace, ?2 id, ?3 until
UPDATE storagebox_records SET until = max(until, ?3) WHERE namespace = ?1 AND id = ?2
