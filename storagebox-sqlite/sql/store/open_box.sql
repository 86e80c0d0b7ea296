-- Registers a box, or shows how it was created (S-03, S-04), with the version of the tables. A library of another version
-- registers nothing.
-- ?1 kind, ?2 name, ?3 options, ?4 keeps, ?5 version
INSERT INTO storagebox_boxes (kind, name, options, keeps)
SELECT ?1, ?2, ?3, ?4 WHERE (SELECT max(version) FROM storagebox_versions) = ?5
ON CONFLICT DO NOTHING;
SELECT (SELECT coalesce(max(version), 0) FROM storagebox_versions) AS version, b.number, b.options
FROM (SELECT 1) LEFT JOIN storagebox_boxes b ON b.kind = ?1 AND b.name = ?2
