-- S-4 Reads the number and the options of a namespace, the version of the tables and the store's memory.
-- ?1 kind, ?2 name
-- Always returns one row, with nulls if the namespace does not exist.
SELECT (SELECT coalesce(max(version), 0) FROM storagebox_versions) AS version, s.memory, b.number, b.options
FROM storagebox_store s LEFT JOIN storagebox_namespaces b ON b.kind = ?1 AND b.name = ?2
