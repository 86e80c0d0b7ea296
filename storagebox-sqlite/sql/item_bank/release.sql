-- IB-7 Ends a claim and frees its item. An unknown claim is fenced.
-- ?1 bank, ?2 claim, ?3 now
UPDATE storagebox_items SET state = 'free', claim = NULL, until = NULL WHERE bank = ?1 AND claim = ?2;
INSERT INTO storagebox_ended_claims (bank, claim, why, ended_at) VALUES (?1, ?2, 'released', ?3)
