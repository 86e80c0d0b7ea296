-- IB-6 the new end of a hold that lives.
-- ?1 bank, ?2 claim, ?3 until
UPDATE storagebox_items SET until = ?3 WHERE bank = ?1 AND claim = ?2
