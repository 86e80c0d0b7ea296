-- IB-3, IB-6 Reads the state of the claim at this moment; changes nothing.
-- ARGV claim, memory or ''
-- Returns again item hold | ended why | unknown
local claim = ARGV[1]
local _, value = find_claim(claim)
return { judge(value, tonumber(ARGV[2])) }
