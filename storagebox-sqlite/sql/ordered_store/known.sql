-- O-1 Reads the newest write of a key.
-- ?1 namespace, ?2 key
-- Returns no row if there was none.
SELECT at, writer, value FROM storagebox_ordered_values WHERE namespace = ?1 AND key = ?2
