-- IB-6 Ends claims whose holds have lapsed, and frees their items, so that takes find them free.
-- ?1 now, ?2 limit
INSERT INTO storagebox_ended_claims (bank, claim, why, ended_at)
SELECT i.bank, i.claim, 'expired', i.until FROM storagebox_namespaces b
CROSS JOIN storagebox_items i INDEXED BY storagebox_items_by_end ON i.bank = b.number AND i.until <= ?1 LIMIT ?2;
UPDATE storagebox_items SET state = 'free', claim = NULL, until = NULL WHERE place IN (
    SELECT i.place FROM storagebox_namespaces b
    CROSS JOIN storagebox_items i INDEXED BY storagebox_items_by_end ON i.bank = b.number AND i.until <= ?1 LIMIT ?2
)
