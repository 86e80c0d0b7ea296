-- IB-10 Counts the items of a bank by state, in one snapshot. Items of lapsed holds count as free.
-- ?1 name, ?2 now
SELECT coalesce(sum(state = 'free' OR until <= ?2), 0) AS free,
       coalesce(sum(state = 'held' AND (until IS NULL OR until > ?2)), 0) AS held,
       coalesce(sum(state = 'spent'), 0) AS spent,
       coalesce(sum(state = 'withdrawn'), 0) AS withdrawn
FROM storagebox_items WHERE bank = (SELECT number FROM storagebox_namespaces WHERE kind = 'bank' AND name = ?1)
