-- D-5 Begins a lease. Replaces a lapsed one. `next_number.sql` runs before.
-- ?1 namespace, ?2 id, ?3 op, ?4 fingerprint, ?5 until, ?6 1 if the fingerprint is inherited (D-6), or null
-- Returns the fence.
INSERT OR REPLACE INTO storagebox_records (namespace, id, state, op, replaced_version, fence, fingerprint, until)
SELECT number, ?2, 'leased', ?3, ?6, last_number, ?4, ?5 FROM storagebox_namespaces WHERE number = ?1;
SELECT last_number FROM storagebox_namespaces WHERE number = ?1
