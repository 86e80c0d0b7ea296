-- IB-1, IB-3 gives a claim of which nothing is known a free item of the bank of this name, in tables of this version.
-- A claim that has an item keeps it: the index of claims is unique. No row if any of that is not so.
-- ?1 name, ?2 version, ?3 claim, ?4 until
UPDATE OR IGNORE storagebox_items SET state = 'held', claim = ?3, until = ?4 WHERE place = (
    SELECT place FROM storagebox_items INDEXED BY storagebox_items_free
    WHERE bank = (SELECT number FROM storagebox_namespaces WHERE kind = 'bank' AND name = ?1) AND state = 'free' LIMIT 1
)
AND NOT EXISTS (
    SELECT 1 FROM storagebox_ended_claims ended WHERE ended.bank = storagebox_items.bank AND ended.claim = ?3
)
AND ?2 = (SELECT max(version) FROM storagebox_versions)
RETURNING item
