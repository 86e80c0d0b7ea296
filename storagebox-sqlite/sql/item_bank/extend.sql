-- IB-6 Sets the end of a hold. The caller has checked that the hold has not lapsed.
-- ?1 bank, ?2 claim, ?3 until
UPDATE storagebox_items SET until = ?3 WHERE bank = ?1 AND claim = ?2
