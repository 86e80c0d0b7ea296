-- IB-3, IB-7 Reads a claim by the number of its bank.
-- ?1 bank, ?2 claim
-- Returns its item, or why it ended; no row if the claim is unknown.
SELECT item, state, until AS at FROM storagebox_items WHERE bank = ?1 AND claim = ?2
UNION ALL
SELECT NULL, why, ended_at FROM storagebox_ended_claims WHERE bank = ?1 AND claim = ?2
