-- S-2 Forgets operations that are over.
-- ARGV limit
-- Returns how many were forgotten, 'more' or ''
local keeps = head[2]
if keeps and keeps ~= '' and not tonumber(keeps) then corrupt('a namespace that does not say how long it remembers') end
local most = tonumber(ARGV[1])
local done = prune(most, tonumber(keeps))
return { text(done), done == most and 'more' or '' }
