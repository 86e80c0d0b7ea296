-- O-3 Lists values in the order of their keys, from after the given key, if their keys begin with the prefix. Leaves
-- out tombstones, and returns at most about a mebibyte of values.
-- ARGV prefix or '', key or '', limit
-- Returns the key after which to continue or '', then key, at, writer, value of each
local prefix, after, limit = ARGV[1], ARGV[2], tonumber(ARGV[3])
local first = after ~= '' and '(' .. after or prefix ~= '' and '[' .. prefix or '-'
-- No UTF-8 text contains this byte.
local last = prefix ~= '' and '(' .. prefix .. '\255' or '+'
local keys = redis.call('ZRANGEBYLEX', base .. ':x', first, last, 'LIMIT', 0, limit)
local answer, bytes = { #keys == limit and keys[limit] or '' }, 0
for at, key in ipairs(keys) do
    local found = found_at(base .. ':o:' .. key)
    -- A cursor that was made with another prefix may begin before the keys with this prefix.
    if string.sub(key, 1, string.len(prefix)) == prefix then
        for _, field in ipairs({ key, found[1], found[2], found[3] }) do answer[#answer + 1] = field end
        bytes = bytes + string.len(found[3])
    end
    if bytes > 1048576 and at < #keys then
        answer[1] = key
        return answer
    end
end
return answer
