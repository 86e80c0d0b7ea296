-- S-2 Forgets operations that need not be remembered any more.
-- ARGV limit
-- Returns how many were forgotten, 'more' or ''
local keeps = head[2]
if keeps and keeps ~= '' and not tonumber(keeps) then corrupt('a namespace whose memory is no number') end
local most = tonumber(ARGV[1])
local done = prune(most, tonumber(keeps))
return { text(done), done == most and 'more' or '' }
