-- T-1, T-10 Tests whether a token is live.
-- ?1 name, ?2 now (unused), ?3 token
-- Returns a row if the token is live.
SELECT 1 FROM storagebox_tokens
WHERE namespace = (SELECT number FROM storagebox_namespaces WHERE kind = 'tokens' AND name = ?1)
  AND token = ?3 AND gone_at IS NULL
