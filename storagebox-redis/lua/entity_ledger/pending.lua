-- E-5 Lists entries, ordered by their bytes, from after the given entry.
-- ARGV entry or '', limit
-- Returns the entry after which to continue or '', then key, message, op of the commit of each
local limit = tonumber(ARGV[2])
local names = redis.call('ZRANGEBYLEX', base .. ':x', ARGV[1] == '' and '-' or '(' .. ARGV[1], '+', 'LIMIT', 0, limit)
local answer = { #names == limit and names[limit] or '' }
for _, name in ipairs(names) do
    local entry = entry_of(name) or corrupt('a listed entry that does not exist')
    local length, from = string.match(name, '^(%d+):()')
    if not length then corrupt('an entry without a name') end
    for _, field in ipairs({ string.sub(name, from, from + length - 1), string.sub(name, from + length), entry.attempts[1] }) do
        answer[#answer + 1] = field
    end
end
return answer
