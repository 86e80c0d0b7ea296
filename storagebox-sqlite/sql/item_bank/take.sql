-- IB-1 Gives a claim a free item. IB-8 The index of free items makes the cost independent of the bank's size.
-- ?1 bank, ?2 claim, ?3 until
-- Returns the item; no row if none is free.
UPDATE storagebox_items SET state = 'held', claim = ?2, until = ?3 WHERE place = (
    SELECT place FROM storagebox_items INDEXED BY storagebox_items_free WHERE bank = ?1 AND state = 'free' LIMIT 1
) RETURNING item
