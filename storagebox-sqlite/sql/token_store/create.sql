-- T-2, T-8, T-9 makes the tokens; a live one is not changed. T-7 nor is one that is gone, for as long as that is
-- remembered. Shows how many there were of each.
-- ?1 namespace, ?2 tokens as JSON, ?3 forgotten
SELECT coalesce(sum(gone_at IS NULL), 0) AS live, coalesce(sum(gone_at > ?3), 0) AS gone
FROM storagebox_tokens WHERE namespace = ?1 AND token IN (SELECT value FROM json_each(?2));
INSERT INTO storagebox_tokens (namespace, token) SELECT ?1, value FROM json_each(?2) WHERE true
ON CONFLICT (namespace, token) DO UPDATE SET gone_at = NULL, op = NULL WHERE gone_at <= ?3
