-- D-5 begins a lease, in place of one that has lapsed, if there is one. Shows its number.
-- D-6 the fingerprint is that of the lapsed lease, if it had any; ?6 is then 1.
-- ?1 namespace, ?2 id, ?3 op, ?4 fingerprint, ?5 until, ?6 inherited
INSERT OR REPLACE INTO storagebox_records (namespace, id, state, op, replaced_version, fence, fingerprint, until)
SELECT number, ?2, 'leased', ?3, ?6, last_number, ?4, ?5 FROM storagebox_namespaces WHERE number = ?1;
SELECT last_number FROM storagebox_namespaces WHERE number = ?1
