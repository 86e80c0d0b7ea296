-- IB-7 ends the memory of a claim that ended; the item of a hold that has lapsed is free.
-- ?1 bank, ?2 claim
UPDATE storagebox_items SET state = 'free', claim = NULL, until = NULL WHERE bank = ?1 AND claim = ?2;
DELETE FROM storagebox_ended_claims WHERE bank = ?1 AND claim = ?2
