-- D-4 Lists records in the order of their ids, from after the given id. Leaves out records whose retention is over, and
-- returns at most about a mebibyte of values.
-- ARGV id or '', limit
-- Returns the id after which to continue or '', then id, version, value of each
local limit = tonumber(ARGV[2])
local ids = redis.call('ZRANGEBYLEX', base .. ':x', id == '' and '-' or '(' .. id, '+', 'LIMIT', 0, limit)
local answer, bytes = { #ids == limit and ids[limit] or '' }, 0
for at, one in ipairs(ids) do
    local found = redis.call('HMGET', base .. ':r:' .. one, 's', 'u', 'n', 'v', 'f', 'o')
    check_state(found[1], found[2], found[3], found[5], found[6])
    if found[1] ~= 'D' or not found[4] then corrupt('a record that cannot be read') end
    if not is_past('D', found[2]) then
        for _, field in ipairs({ one, found[3], found[4] }) do answer[#answer + 1] = field end
        bytes = bytes + string.len(found[4])
        if bytes > 1048576 and at < #ids then
            answer[1] = one
            return answer
        end
    end
end
return answer
