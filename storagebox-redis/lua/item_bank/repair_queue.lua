-- Reads a piece of a queue. Splits a piece that is too long, because a script failed before it began the next piece.
-- ARGV 'f' (free items) or 'e' (ended claims), the piece or '' for the first
-- Returns the number of the piece, the last piece, how many were repaired, the entries
local name, first, last = ARGV[1], FREE_FIRST, FREE_LAST
if name == 'e' then first, last = ENDED_FIRST, ENDED_LAST end
local at = tonumber(ARGV[2]) or tonumber(head[first] or 0)
local key = base .. ':' .. name .. ':' .. text(at)
local entries = redis.call('LRANGE', key, 0, -1)
local is_last, mended = at >= tonumber(head[last] or 0), 0
local answer = { text(at), head[last] or '0', '0' }
for _, entry in ipairs(entries) do answer[#answer + 1] = entry end
if is_last and #entries >= PIECE then
    head[last], mended = text(write('HINCRBY', base, name .. 'l', 1)), 1
    answer[2], is_last = head[last], false
end
if not is_last and #entries > PIECE then
    for _, entry in ipairs(write('LPOP', key, #entries - PIECE)) do push(name, last, entry) end
    mended = 1
end
answer[3] = text(mended)
return answer
