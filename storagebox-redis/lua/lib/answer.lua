-- Runs the script and returns its answer, or an error: LACKING, REMOVED or CORRUPT if nothing was written, HALFWAY if
-- something was. A key of another type and a field that makes no sense count as corrupt. If nothing was written, every
-- other error of the server keeps its code, because the script had no effect.
local is_done, answer = pcall(script)
if is_done then return answer end
-- Some servers pass on only the message.
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
