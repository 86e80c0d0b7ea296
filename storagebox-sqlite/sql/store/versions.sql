-- Makes the table of applied migrations. Each setup runs this statement first.
CREATE TABLE IF NOT EXISTS storagebox_versions (
    version    INTEGER PRIMARY KEY,
    applied_at TEXT NOT NULL DEFAULT CURRENT_TIMESTAMP
) STRICT;
