-- IB-3, IB-7 Reads a claim by the name of its bank, and the store's memory.
-- ?1 name, ?2 now, ?3 claim
-- Returns the claim's item, or the reason of its end, and now; no row if the claim is unknown.
SELECT item, state, until AS at, (SELECT memory FROM storagebox_store) AS memory, ?2 AS asked FROM storagebox_items
WHERE bank = (SELECT number FROM storagebox_namespaces WHERE kind = 'bank' AND name = ?1) AND claim = ?3
UNION ALL
SELECT NULL, why, ended_at, (SELECT memory FROM storagebox_store), ?2 FROM storagebox_ended_claims
WHERE bank = (SELECT number FROM storagebox_namespaces WHERE kind = 'bank' AND name = ?1) AND claim = ?3
