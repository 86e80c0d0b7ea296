-- IB-3, IB-7 what is known of a claim, by the bank's name: the item that it has, or why it ended; no row if nothing is.
-- With it, how long what has ended is remembered.
-- ?1 name, ?2 now (not asked), ?3 claim
SELECT item, state, until AS at, (SELECT memory FROM storagebox_store) AS memory FROM storagebox_items
WHERE bank = (SELECT number FROM storagebox_namespaces WHERE kind = 'bank' AND name = ?1) AND claim = ?3
UNION ALL
SELECT NULL, why, ended_at, (SELECT memory FROM storagebox_store) FROM storagebox_ended_claims
WHERE bank = (SELECT number FROM storagebox_namespaces WHERE kind = 'bank' AND name = ?1) AND claim = ?3
