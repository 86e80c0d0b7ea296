-- E-1, E-6 Reads the data on which a commit depends: the entity, the commit that added the message's entry, the
-- message's token, and the last version. If a restore set the namespace's last version back, the last version is the
-- entity's.
-- ?1 namespace, ?2 key, ?3 message, ?4 namespace of the token or null, ?5 token or null
-- Always returns one row, with nulls for a row that does not exist.
SELECT max(b.last_number, coalesce(e.version, 0)) AS last, e.version, e.gone_at, o.op AS added_by, t.op AS consumed_by, t.gone_at AS consumed_at
FROM (SELECT 1)
LEFT JOIN storagebox_namespaces b ON b.number = ?1
LEFT JOIN storagebox_entities e ON e.namespace = ?1 AND e.key = ?2
LEFT JOIN storagebox_entries o ON o.namespace = ?1 AND o.key = ?2 AND o.message = ?3
LEFT JOIN storagebox_tokens t ON t.namespace = ?4 AND t.token = ?5
