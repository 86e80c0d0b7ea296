-- D-1 records a value, in place of a lease that has lapsed, if there is one. Shows its version.
-- ?1 namespace, ?2 id, ?3 op, ?4 value, ?5 until
INSERT OR REPLACE INTO storagebox_records (namespace, id, state, op, value, version, until)
SELECT number, ?2, 'done', ?3, ?4, last_number, ?5 FROM storagebox_namespaces WHERE number = ?1;
SELECT last_number FROM storagebox_namespaces WHERE number = ?1
