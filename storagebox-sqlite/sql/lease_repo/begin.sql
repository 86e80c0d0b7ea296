-- D-5 begins a lease, in place of one that has lapsed, if there is one. Shows its number.
-- ?1 namespace, ?2 id, ?3 op, ?4 fingerprint, ?5 until
UPDATE storagebox_namespaces SET last_number = last_number + 1 WHERE number = ?1;
INSERT OR REPLACE INTO storagebox_records (namespace, id, state, op, fence, fingerprint, until)
SELECT number, ?2, 'leased', ?3, last_number, ?4, ?5 FROM storagebox_namespaces WHERE number = ?1;
SELECT last_number FROM storagebox_namespaces WHERE number = ?1
