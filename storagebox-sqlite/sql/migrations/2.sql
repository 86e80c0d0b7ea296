-- Version 2: the calls that are void (ER-5).

-- The calls of a claim, or of an operation on a counter, that were refused after an attempt of them was lost.
CREATE TABLE storagebox_void_calls (
    namespace INTEGER NOT NULL,
    -- The key of the counter; empty for a claim.
    key       TEXT NOT NULL,
    -- The claim or the operation.
    id        TEXT NOT NULL,
    -- The numbers of the calls, separated by spaces.
    calls     TEXT NOT NULL,
    -- How the last of them was refused.
    refusal   TEXT NOT NULL,
    -- When they are forgotten.
    ends      INTEGER NOT NULL,
    PRIMARY KEY (namespace, key, id)
) STRICT, WITHOUT ROWID;
CREATE INDEX storagebox_void_calls_by_end ON storagebox_void_calls (ends);

-- A call in progress within a transaction of the caller. There is no version -1, so nothing can be committed while a
-- row is here: not half of a call that was dropped, and nothing after one that failed (J-2).
CREATE TABLE storagebox_unfinished_calls (
    call INTEGER PRIMARY KEY REFERENCES storagebox_versions (version) DEFERRABLE INITIALLY DEFERRED
) STRICT;
