
-- Entries of entities.

local function packed(op) return string.len(op) .. ':' .. op end

local function unpacked(attempts)
    local ops, at, length = {}, 1, string.len(attempts)
    while at <= length do
        local its, from = string.match(attempts, '^(%d+):()', at)
        at = its and from + its or length + 2
        ops[#ops + 1] = string.sub(attempts, from or at, at - 1)
    end
    return at == length + 1 and ops[1] and ops or corrupt('an entry whose attempts cannot be read')
end

local function is_among(op, ops)
    for _, one in ipairs(ops) do
        if one == op then return true end
    end
    return false
end

-- Returns the entry without its content, or nil if there is none.
local function entry_of(name)
    local its = base .. ':m:' .. name
    local found = redis.call('HMGET', its, 'a', 'x')
    if not found[1] then return redis.call('HLEN', its) > 0 and corrupt('an entry without its commit') or nil end
    local entry = { key = its, packed = found[1], attempts = unpacked(found[1]), chosen = found[2] }
    if entry.chosen and not is_among(entry.chosen, entry.attempts) then corrupt('an entry whose choice is no attempt') end
    return entry
end

-- Returns the entry if this commit added it, not an earlier or later entry of the same message.
local function added_by(commit, name)
    local entry = entry_of(name)
    return entry and entry.attempts[1] == commit and entry
end

-- Returns an answer: the word, the content, the chosen attempt or '', and the attempts.
local function shown(word, entry)
    local content = redis.call('HGET', entry.key, 'c') or corrupt('an entry without its content')
    local answer = { word, content, entry.chosen or '' }
    for _, op in ipairs(entry.attempts) do answer[#answer + 1] = op end
    return answer
end
