-- The first statement of every setup: the table of the migrations that were applied.
CREATE TABLE IF NOT EXISTS storagebox_versions (
    version    INTEGER PRIMARY KEY,
    applied_at TEXT NOT NULL DEFAULT CURRENT_TIMESTAMP
) STRICT;
