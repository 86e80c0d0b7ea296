-- The answer of the script, or how far it came: CORRUPT if nothing was written, HALFWAY if something was. A key of another type
-- and a field that makes no sense are told so; what has a word of its own keeps it.
local is_done, answer = pcall(script)
if is_done then return answer end
-- Some servers hand on the message alone.
local why = type(answer) == 'table' and answer.err or answer
local word = string.match(why, '^(%u+) ')
local is_elsewhere = string.find(why, 'non local key', 1, true)
if is_elsewhere or word and word ~= 'CORRUPT' and word ~= 'WRONGTYPE' and word ~= 'ERR' then return { err = why } end
if word == 'CORRUPT' then why = string.sub(why, 9) end
return { err = (wrote and 'HALFWAY ' or 'CORRUPT ') .. why }
