-- S-1 keeps what a store was set up with, once.
-- ?1 memory in microseconds, or null for ever
INSERT INTO storagebox_store (one, memory) VALUES (1, ?1)
