-- O-03 the value, if the newest write is not a delete.
-- ?1 box, ?2 now (not asked), ?3 key
SELECT value, at, writer FROM storagebox_ordered_values WHERE box = ?1 AND key = ?3 AND value IS NOT NULL
