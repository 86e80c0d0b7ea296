-- IB-6 Gives a claim the item of the hold that lapsed first, and ends the claim of that hold.
-- ?1 bank, ?2 now, ?3 claim, ?4 until
-- Returns the item; no row if no hold has lapsed.
INSERT INTO storagebox_ended_claims (bank, claim, why, ended_at)
SELECT bank, claim, 'expired', until FROM storagebox_items INDEXED BY storagebox_items_by_end
WHERE bank = ?1 AND until <= ?2 ORDER BY until, place LIMIT 1;
UPDATE storagebox_items SET claim = ?3, until = ?4 WHERE place = (
    SELECT place FROM storagebox_items INDEXED BY storagebox_items_by_end
    WHERE bank = ?1 AND until <= ?2 ORDER BY until, place LIMIT 1
) RETURNING item
