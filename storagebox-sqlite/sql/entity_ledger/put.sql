-- E-1, E-6 Writes the new version and the state of an entity, and the last version of the namespace.
-- ?1 namespace, ?2 key, ?3 version, ?4 whether the state stays, ?5 state or null for a deletion
UPDATE storagebox_namespaces SET last_number = ?3 WHERE number = ?1;
INSERT INTO storagebox_entities (namespace, key, version, state) VALUES (?1, ?2, ?3, ?5)
ON CONFLICT (namespace, key) DO UPDATE
SET version = ?3, gone_at = NULL, state = CASE WHEN ?4 THEN state ELSE ?5 END
