-- IB-6 gives the claim the item of a hold that has lapsed, whose own claim ends in the same step.
-- ?1 bank, ?2 now, ?3 claim, ?4 until
INSERT INTO storagebox_ended_claims (bank, claim, why, ended_at)
SELECT bank, claim, 'expired', until FROM storagebox_items INDEXED BY storagebox_items_by_end
WHERE bank = ?1 AND until <= ?2 ORDER BY until, place LIMIT 1;
UPDATE storagebox_items SET claim = ?3, until = ?4 WHERE place = (
    SELECT place FROM storagebox_items INDEXED BY storagebox_items_by_end
    WHERE bank = ?1 AND until <= ?2 ORDER BY until, place LIMIT 1
) RETURNING item
