-- IB-3, IB-7 what is known of a claim, by the bank's number: the item that it has, or why it ended; no row if nothing is.
-- ?1 bank, ?2 claim
SELECT item, state, until AS at FROM storagebox_items WHERE bank = ?1 AND claim = ?2
UNION ALL
SELECT NULL, why, ended_at FROM storagebox_ended_claims WHERE bank = ?1 AND claim = ?2
