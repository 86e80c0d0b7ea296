-- Changes nothing, and fails if the file is read-only. `BEGIN IMMEDIATE` would succeed on a read-only file.
DELETE FROM storagebox_store WHERE 0
