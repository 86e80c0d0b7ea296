-- J-3 Fails outside a transaction: there, each statement is committed at once, and the inserted row breaks a foreign
-- key. Makes a deferred transaction immediate.
INSERT INTO main.storagebox_unfinished_calls VALUES (-1);
DELETE FROM main.storagebox_unfinished_calls
