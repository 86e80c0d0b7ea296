-- IB-1, IB-3 Gives a new claim a free item, without a transaction around the statement.
-- A claim that has an item already is looked up by the unique index of claims, without which the statement fails.
-- ?1 name, ?2 version of the tables, ?3 claim, ?4 until
-- Returns the item. Returns no row if the claim is known or has void calls, no item is free, the bank does not exist,
-- or the tables have another version.
UPDATE OR IGNORE storagebox_items SET state = 'held', claim = ?3, until = ?4 WHERE place = (
    SELECT place FROM storagebox_items INDEXED BY storagebox_items_free
    WHERE bank = (SELECT number FROM storagebox_namespaces WHERE kind = 'bank' AND name = ?1) AND state = 'free' LIMIT 1
)
AND NOT EXISTS (
    SELECT 1 FROM storagebox_items held INDEXED BY storagebox_items_by_claim
    WHERE held.bank = storagebox_items.bank AND held.claim = ?3
)
AND NOT EXISTS (
    SELECT 1 FROM storagebox_ended_claims ended WHERE ended.bank = storagebox_items.bank AND ended.claim = ?3
)
AND NOT EXISTS (
    SELECT 1 FROM storagebox_void_calls void WHERE void.namespace = storagebox_items.bank AND void.key = '' AND void.id = ?3
)
AND ?2 = (SELECT max(version) FROM storagebox_versions)
RETURNING item
