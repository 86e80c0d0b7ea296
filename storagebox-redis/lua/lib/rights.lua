-- Checks all rights before the first write. If a script fails at a command that its user may not use, or that the
-- server lacks, the server does not undo what the script wrote before. `rights` is generated from the commands in the
-- script's text.
local is_granted_all = false

local function demand_rights()
    for _, key in ipairs(KEYS) do
        -- This is no key of the library, but it begins like one: the server has already checked the rights to KEYS
        -- themselves.
        if not rights(redis.acl_check_cmd, key .. ':') then error({ err = 'LACKING' }) end
    end
    is_granted_all = true
end

-- Returns an error that names the commands that the server lacks, or those that the user may not use. Returns nothing
-- if there are none.
local function missing_rights()
    local unknown, denied, seen = {}, {}, {}
    for _, key in ipairs(KEYS) do
        rights(function(command, ...)
            local is_known, is_granted = pcall(redis.acl_check_cmd, command, ...)
            local missing = not is_known and unknown or not is_granted and denied
            if missing and not seen[command] then
                missing[#missing + 1], seen[command] = string.lower(command), true
            end
            return true
        end, key .. ':')
    end
    if #unknown > 0 then return 'REMOVED ' .. table.concat(unknown, ' ') end
    return #denied > 0 and 'LACKING +' .. table.concat(denied, ' +')
end

