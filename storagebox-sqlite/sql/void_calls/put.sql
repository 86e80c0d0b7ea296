-- ER-5 Stores the void calls of a claim or an operation, and how the last of them was refused.
-- ?1 namespace, ?2 key, ?3 id, ?4 calls, ?5 refusal, ?6 ends
INSERT OR REPLACE INTO storagebox_void_calls (namespace, key, id, calls, refusal, ends) VALUES (?1, ?2, ?3, ?4, ?5, ?6)
