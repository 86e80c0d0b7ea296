-- O-01 the newest write of a key; no row if there was none.
-- ?1 box, ?2 key
SELECT at, writer, value FROM storagebox_ordered_values WHERE box = ?1 AND key = ?2
