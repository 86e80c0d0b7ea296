-- S-02 forgets operations that are over.
-- ARGV most
-- how many
local keeps = head[2]
if keeps and keeps ~= '' and not tonumber(keeps) then corrupt('a box that does not say how long it remembers') end
return { text(prune(tonumber(ARGV[1]), tonumber(keeps))) }
