-- E-1, E-6 gives the entity a version that none has had, and its state unless that stays.
-- ?1 namespace, ?2 key, ?3 version, ?4 whether the state stays, ?5 state; null is a deletion
UPDATE storagebox_namespaces SET last_number = ?3 WHERE number = ?1;
INSERT INTO storagebox_entities (namespace, key, version, state) VALUES (?1, ?2, ?3, ?5)
ON CONFLICT (namespace, key) DO UPDATE
SET version = ?3, gone_at = NULL, state = CASE WHEN ?4 THEN state ELSE ?5 END
