-- T-6 Discards tokens; idempotent. T-7 Unknown tokens are fenced as well.
-- ?1 namespace, ?2 tokens as JSON, ?3 now, ?4 forgotten
-- Returns how many were live.
SELECT coalesce(sum(gone_at IS NULL), 0) AS live
FROM storagebox_tokens WHERE namespace = ?1 AND token IN (SELECT value FROM json_each(?2));
INSERT INTO storagebox_tokens (namespace, token, gone_at) SELECT ?1, value, ?3 FROM json_each(?2) WHERE true
ON CONFLICT (namespace, token) DO UPDATE SET gone_at = ?3, op = NULL WHERE gone_at IS NULL OR gone_at <= ?4
