-- S-4 how a namespace was created, if it was, with the version of the tables and how long what has ended is remembered.
-- ?1 kind, ?2 name
SELECT (SELECT coalesce(max(version), 0) FROM storagebox_versions) AS version, s.memory, b.number, b.options
FROM storagebox_store s LEFT JOIN storagebox_namespaces b ON b.kind = ?1 AND b.name = ?2
