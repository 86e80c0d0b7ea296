-- IB-3, IB-6 what the claim is by the clock; changes nothing.
-- ARGV claim, memory or ''
-- again item hold | ended why | unknown
local claim = ARGV[1]
local _, value = find_claim(claim)
return { judge(value, tonumber(ARGV[2])) }
