-- D-05 makes a lease last longer, never shorter.
-- ?1 box, ?2 id, ?3 until
UPDATE storagebox_records SET until = max(until, ?3) WHERE box = ?1 AND id = ?2
