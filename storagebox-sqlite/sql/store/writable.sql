-- Changes nothing, and is refused where nothing can be changed: a transaction that writes begins there all the same.
DELETE FROM storagebox_store WHERE 0
