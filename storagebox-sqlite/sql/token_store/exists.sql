-- T-1, T-10 a row if the token lives.
-- ?1 name, ?2 now (not asked), ?3 token
SELECT 1 FROM storagebox_tokens
WHERE namespace = (SELECT number FROM storagebox_namespaces WHERE kind = 'tokens' AND name = ?1)
  AND token = ?3 AND gone_at IS NULL
