-- The answer of the script, or how far it came: LACKING, REMOVED or CORRUPT if nothing was written, HALFWAY if something was. A key
-- of another type and a field that makes no sense are told so; what has a word of its own keeps it if
-- nothing was written: whatever else the server says, it says of a script that did nothing.
local is_done, answer = pcall(script)
if is_done then return answer end
-- Some servers hand on the message alone.
local why = type(answer) == 'table' and answer.err or answer
local word = string.match(why, '^(%u+)')
local is_ours = word == 'CORRUPT' or word == 'EPOCH'
local missing = not wrote and not is_ours and missing_rights()
if missing then return { err = missing } end
local is_elsewhere = string.find(why, 'non local key', 1, true)
local has_word = word and string.find(why, '^%u+ ') and word ~= 'CORRUPT' and word ~= 'WRONGTYPE' and word ~= 'ERR'
if not wrote and (is_elsewhere or has_word) then return { err = why } end
if is_ours then why = string.gsub(why, '^CORRUPT ', '') end
return { err = (wrote and 'HALFWAY ' or 'CORRUPT ') .. why }
