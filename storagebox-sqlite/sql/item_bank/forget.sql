-- IB-7 Forgets an ended claim. If its hold has lapsed, its item becomes free.
-- ?1 bank, ?2 claim
UPDATE storagebox_items SET state = 'free', claim = NULL, until = NULL WHERE bank = ?1 AND claim = ?2;
DELETE FROM storagebox_ended_claims WHERE bank = ?1 AND claim = ?2
