-- What every setup begins with: the versions that the tables have been brought to.
CREATE TABLE IF NOT EXISTS storagebox_versions (
    version    INTEGER PRIMARY KEY,
    applied_at TEXT NOT NULL DEFAULT CURRENT_TIMESTAMP
) STRICT;
