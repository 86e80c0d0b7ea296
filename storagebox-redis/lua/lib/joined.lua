
-- The end of the function that `join.lua` begins.
local function check() redis.call('LLEN', piece('g', LAST)) end

-- Returns the tokens, from index `from` on, that may be created. Live and gone tokens stay as they are (T-7, T-9).
local function unknown(tokens, from, memory)
    local found = {}
    for i = from, #tokens do
        local state, _, its, hash = known(tokens[i], memory)
        if not state then found[#found + 1] = { token = tokens[i], its = its, hash = hash } end
    end
    return found
end

local function create(tokens)
    for _, one in ipairs(tokens) do
        write('HSET', one.its, one.token, 'L')
        grow('k', level, one.its, one.hash)
    end
end

return { check = check, known = known, finish = finish, unknown = unknown, create = create }
end
