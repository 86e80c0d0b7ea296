-- E-2 Adds the entry of a message.
-- ?1 namespace, ?2 key, ?3 message, ?4 commit, ?5 the chosen attempt or null, ?6 content
INSERT INTO storagebox_entries (namespace, key, message, op, chosen, content) VALUES (?1, ?2, ?3, ?4, ?5, ?6)
