-- Raises an error unless the user may run a command. A server does not undo the writes of a script that fails, so each
-- script first demands every right that it needs.
local function demand(command, ...)
    if not redis.acl_check_cmd(command, ...) then error({ err = 'NOPERM the script needs the right to ' .. command }) end
end

