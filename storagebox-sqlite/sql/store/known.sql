-- S-1 the version that the tables have, 0 for none, and how long what has ended is remembered.
SELECT (SELECT coalesce(max(version), 0) FROM storagebox_versions) AS version, memory FROM storagebox_store
