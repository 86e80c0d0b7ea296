-- S-1 Stores the settings of a new store.
-- ?1 memory in microseconds, or null for ever
INSERT INTO storagebox_store (one, memory) VALUES (1, ?1)
