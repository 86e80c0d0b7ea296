-- E-5 Reads the entity, its entry and its token at one moment; changes nothing.
-- KEYS the entities, then the token's namespace if there is a token; ARGV key, message, memory or '', token or ''
-- Returns version or '', 'state' or '', the state, 'live', 'absent' or ''; then, if there is an entry, 'entry', its
-- content, its chosen attempt or '', and its attempts
local memory, token = tonumber(ARGV[3]), ARGV[4]
local known, entry = entity_of(ARGV[1], memory), entry_of(name_of(ARGV[1], ARGV[2]))
local is_live = token ~= '' and tokens_of(KEYS[2]).known(token, memory) == 'L'
local answer = { known.version or '', known.state and 'state' or '', known.state or '', '' }
if token ~= '' then answer[4] = is_live and 'live' or 'absent' end
for _, field in ipairs(entry and shown('entry', entry) or {}) do answer[#answer + 1] = field end
return answer
