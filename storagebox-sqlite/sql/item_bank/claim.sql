-- IB-3, IB-7, ER-5 Reads a claim by the number of its bank, and its void calls.
-- ?1 bank, ?2 claim, ?3 now
-- Returns a row with the claim's item, or with the reason of its end; another row with the claim's void calls and the
-- state `void`; no row if the claim has neither.
SELECT item, state, until AS at FROM storagebox_items WHERE bank = ?1 AND claim = ?2
UNION ALL
SELECT NULL, why, ended_at FROM storagebox_ended_claims WHERE bank = ?1 AND claim = ?2
UNION ALL
SELECT calls, 'void', ends FROM storagebox_void_calls WHERE namespace = ?1 AND key = '' AND id = ?2 AND ends > ?3
