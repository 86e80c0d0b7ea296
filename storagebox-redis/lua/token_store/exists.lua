-- T-01, T-10 whether the token lives.
-- ARGV token
-- live | absent
return { redis.call('HGET', tokens, ARGV[1]) == 'L' and 'live' or 'absent' }
