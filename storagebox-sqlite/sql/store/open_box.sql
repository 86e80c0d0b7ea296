-- S-03, S-04 registers a box.
-- ?1 kind, ?2 name, ?3 options, ?4 keeps
INSERT INTO storagebox_boxes (kind, name, options, keeps) VALUES (?1, ?2, ?3, ?4) RETURNING number
