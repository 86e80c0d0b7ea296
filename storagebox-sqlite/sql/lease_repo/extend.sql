-- D-5 Extends a lease, and never shortens it.
-- ?1 namespace, ?2 id, ?3 until
UPDATE storagebox_records SET until = max(until, ?3) WHERE namespace = ?1 AND id = ?2
