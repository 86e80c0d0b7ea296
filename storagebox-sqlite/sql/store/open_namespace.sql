-- S-3, S-4 Creates a namespace.
-- ?1 kind, ?2 name, ?3 options, ?4 keeps
-- Returns its number.
INSERT INTO storagebox_namespaces (kind, name, options, keeps) VALUES (?1, ?2, ?3, ?4) RETURNING number
