-- T-2, T-7, T-8, T-9 Creates tokens. Live tokens, and gone tokens that are still remembered, are not changed.
-- ?1 namespace, ?2 tokens as JSON, ?3 forgotten
-- Returns how many were live, and how many were gone.
SELECT coalesce(sum(gone_at IS NULL), 0) AS live, coalesce(sum(gone_at > ?3), 0) AS gone
FROM storagebox_tokens WHERE namespace = ?1 AND token IN (SELECT value FROM json_each(?2));
INSERT INTO storagebox_tokens (namespace, token) SELECT ?1, value FROM json_each(?2) WHERE true
ON CONFLICT (namespace, token) DO UPDATE SET gone_at = NULL, op = NULL WHERE gone_at <= ?3
