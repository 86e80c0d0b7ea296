-- IB-1 gives the claim a free item. IB-8 the free ones are found at once, however many are gone.
-- ?1 bank, ?2 claim, ?3 until
UPDATE storagebox_items SET state = 'held', claim = ?2, until = ?3 WHERE place = (
    SELECT place FROM storagebox_items INDEXED BY storagebox_items_free WHERE bank = ?1 AND state = 'free' LIMIT 1
) RETURNING item
