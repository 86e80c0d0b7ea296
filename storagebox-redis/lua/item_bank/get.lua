-- IB-03, IB-06 what the claim is by the clock; changes nothing.
-- ARGV claim, memory or ''
-- again item hold | ended why | unknown
local claim = ARGV[1]
return { judge(redis.call('HGET', claims_with(claim), claim), tonumber(ARGV[2])) }
