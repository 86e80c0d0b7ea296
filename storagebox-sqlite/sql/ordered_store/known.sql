-- O-1 the newest write of a key; no row if there was none.
-- ?1 namespace, ?2 key
SELECT at, writer, value FROM storagebox_ordered_values WHERE namespace = ?1 AND key = ?2
