-- IB-6 Makes a hold permanent: the item is spent.
-- ?1 bank, ?2 claim
UPDATE storagebox_items SET state = 'spent', until = NULL WHERE bank = ?1 AND claim = ?2
