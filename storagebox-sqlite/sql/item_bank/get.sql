-- IB-3, IB-7 Reads a claim by the name of its bank, and the store's memory.
-- ?1 name, ?2 now (unused), ?3 claim
-- Returns the claim's item, or the reason of its end; no row if the claim is unknown.
SELECT item, state, until AS at, (SELECT memory FROM storagebox_store) AS memory FROM storagebox_items
WHERE bank = (SELECT number FROM storagebox_namespaces WHERE kind = 'bank' AND name = ?1) AND claim = ?3
UNION ALL
SELECT NULL, why, ended_at, (SELECT memory FROM storagebox_store) FROM storagebox_ended_claims
WHERE bank = (SELECT number FROM storagebox_namespaces WHERE kind = 'bank' AND name = ?1) AND claim = ?3
