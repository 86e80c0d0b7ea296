-- A server does not undo what a script wrote before it failed: so each script asks first for all that it may write.
local function demand(command, ...)
    if not redis.acl_check_cmd(command, ...) then error({ err = 'NOPERM the script needs the right to ' .. command }) end
end

