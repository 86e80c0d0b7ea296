-- S-1 Returns the version of the tables, 0 for none.
SELECT coalesce(max(version), 0) AS version FROM storagebox_versions
