-- D-1 Records a value. Replaces a lapsed lease. `next_number.sql` runs before.
-- ?1 namespace, ?2 id, ?3 op, ?4 value, ?5 until
-- Returns the version of the record.
INSERT OR REPLACE INTO storagebox_records (namespace, id, state, op, value, version, until)
SELECT number, ?2, 'done', ?3, ?4, last_number, ?5 FROM storagebox_namespaces WHERE number = ?1;
SELECT last_number FROM storagebox_namespaces WHERE number = ?1
