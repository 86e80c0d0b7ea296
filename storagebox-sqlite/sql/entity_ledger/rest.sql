-- E-6 Begins the memory of an entity's version, if the entity has neither a state nor an entry.
-- ?1 namespace, ?2 key, ?3 now
UPDATE storagebox_entities SET gone_at = ?3
WHERE namespace = ?1 AND key = ?2 AND state IS NULL
  AND NOT EXISTS (SELECT 1 FROM storagebox_entries WHERE namespace = ?1 AND key = ?2)
