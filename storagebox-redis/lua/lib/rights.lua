-- A server does not undo what a script wrote before it failed, so a script must not meet a command that its user may not use, or
-- that the server lacks, after its first write. Before that, `rights` (made of the commands in the script's text) asks about all.
local is_granted_all = false

local function demand_rights()
    for _, key in ipairs(KEYS) do
        -- No key of ours; the server has looked at the rights to KEYS themselves, and to these it will come.
        if not rights(redis.acl_check_cmd, key .. ':') then error({ err = 'LACKING' }) end
    end
    is_granted_all = true
end

-- The answer that names what is missing, if anything is: commands that the server lacks, or those that are not granted.
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

