-- IB-7 Forgets a confirmed claim. Its item stays spent.
-- ?1 bank, ?2 claim
UPDATE storagebox_items SET claim = NULL WHERE bank = ?1 AND claim = ?2
