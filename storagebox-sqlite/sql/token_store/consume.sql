-- T-5 one operation ends a live token; an unknown one leaves no trace. Shows whether it was this call, and who it was.
-- ?1 namespace, ?2 token, ?3 now, ?4 op
UPDATE storagebox_tokens SET gone_at = ?3, op = ?4 WHERE namespace = ?1 AND token = ?2 AND gone_at IS NULL;
SELECT changes() AS won, op, gone_at FROM storagebox_tokens WHERE namespace = ?1 AND token = ?2
