-- IB-7 ends the memory of a confirmed claim; its item stays spent.
-- ?1 bank, ?2 claim
UPDATE storagebox_items SET claim = NULL WHERE bank = ?1 AND claim = ?2
