-- E-1, E-6 gives the entity a version that none has had, and its state unless that stays.
-- ?1 namespace, ?2 key, ?3 whether the state stays, ?4 state; null is a deletion
UPDATE storagebox_namespaces SET last_number = last_number + 1 WHERE number = ?1;
INSERT INTO storagebox_entities (namespace, key, version, state)
SELECT number, ?2, last_number, ?4 FROM storagebox_namespaces WHERE number = ?1
ON CONFLICT (namespace, key) DO UPDATE
SET version = excluded.version, gone_at = NULL, state = CASE WHEN ?3 THEN state ELSE excluded.state END
