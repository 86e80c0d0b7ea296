-- S-04 how a box was created, if it was, with the version of the tables.
-- ?1 kind, ?2 name
SELECT (SELECT coalesce(max(version), 0) FROM storagebox_versions) AS version, b.number, b.options
FROM (SELECT 1) LEFT JOIN storagebox_boxes b ON b.kind = ?1 AND b.name = ?2
