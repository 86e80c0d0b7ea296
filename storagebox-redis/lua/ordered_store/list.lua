-- O-3 the values of keys that begin so, after a key, in the order of keys; no tombstones; at most a mebibyte at once.
-- ARGV prefix or '', key or '', limit
-- where to go on or '', then key, at, writer, value of each
local prefix, after, limit = ARGV[1], ARGV[2], tonumber(ARGV[3])
local first = after ~= '' and '(' .. after or prefix ~= '' and '[' .. prefix or '-'
-- No text in UTF-8 holds this byte.
local last = prefix ~= '' and '(' .. prefix .. '\255' or '+'
local keys = redis.call('ZRANGEBYLEX', base .. ':x', first, last, 'LIMIT', 0, limit)
local answer, bytes = { #keys == limit and keys[limit] or '' }, 0
for at, key in ipairs(keys) do
    local found = found_at(base .. ':o:' .. key)
    -- A cursor of another prefix begins elsewhere.
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
