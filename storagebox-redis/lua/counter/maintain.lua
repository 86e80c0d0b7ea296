-- S-02 forgets operations that are over.
-- ARGV most
-- how many
return { text(prune(tonumber(ARGV[1]), tonumber(redis.call('HGET', base, 'keeps')))) }
