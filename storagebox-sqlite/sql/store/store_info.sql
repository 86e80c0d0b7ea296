-- S-1 Returns the version of the tables, 0 for none, and the store's memory in microseconds, null for ever.
SELECT (SELECT coalesce(max(version), 0) FROM storagebox_versions) AS version, memory FROM storagebox_store
