-- J-2 Begins a call within a transaction of the caller, which cannot be committed before `end.sql`.
INSERT INTO main.storagebox_unfinished_calls VALUES (-1);
SAVEPOINT storagebox
