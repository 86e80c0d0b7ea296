-- C-06, C-07 the sum of what was applied.
-- ARGV key
-- value
return { redis.call('HGET', base .. ':v', ARGV[1]) or '0' }
