-- The answer of the script, or how far it came: CORRUPT if nothing was written, HALFWAY if something was. A key of another type
-- and a field that makes no sense are told so; what the server refuses for a reason of its own keeps its word.
local is_done, answer = pcall(script)
if is_done then return answer end
local why = answer
if type(answer) == 'table' then
    why = answer.err
    local word = string.match(why, '^%u+')
    local is_elsewhere = string.find(why, 'non local key', 1, true)
    if is_elsewhere or word ~= 'CORRUPT' and word ~= 'WRONGTYPE' and word ~= 'ERR' then return answer end
    if word == 'CORRUPT' then why = string.sub(why, 9) end
end
return { err = (wrote and 'HALFWAY ' or 'CORRUPT ') .. why }
