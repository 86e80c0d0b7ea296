-- S-1 the version that the tables have; 0 for none.
SELECT coalesce(max(version), 0) AS version FROM storagebox_versions
