-- O-3 Removes tombstones that arrived at least an age ago. With time stamps, a tombstone must also be older than the
-- namespace's tombstone age, and its stamp must be below the horizon. Skips all other tombstones.
-- ARGV age in microseconds, or '' for upkeep, which purges no sequence numbers; how many to examine, limit, how many to
-- skip
-- Returns how many were removed, how many to skip next, 'more' or ''
local age, looks, most, passed = tonumber(ARGV[1]), tonumber(ARGV[2]), tonumber(ARGV[3]), tonumber(ARGV[4])
local kept = head[2]
if kept and kept ~= '' and not tonumber(kept) then corrupt('a namespace whose tombstone age is no number') end
local keeps = tonumber(kept)
local done, now_millis = 0, math.floor(now() / 1000)
if not age and not keeps then return { '0', '0', '' } end
age = age or keeps * 1000

local function may_go(cell)
    local found = redis.call('HMGET', cell, 'a', 'r', 'v')
    -- A value whose deletion an older version left half done is not purged.
    if found[3] or now() < found[2] + age then return false end
    if not keeps then return true end
    local high, low = whole(found[1])
    return is_less(high, low, whole(text(now_millis - keeps)))
end

local keys = redis.call('ZRANGEBYSCORE', base .. ':t', '-inf', text(now()), 'LIMIT', passed, looks)
for _, key in ipairs(keys) do
    if done == most then break end
    local cell = base .. ':o:' .. key
    if may_go(cell) then
        write('DEL', cell)
        write('ZREM', base .. ':t', key)
        done = done + 1
    else
        passed = passed + 1
    end
end
return { text(done), text(passed), #keys == looks and 'more' or '' }
