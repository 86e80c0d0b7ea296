-- E-1 Compare-and-set by the version, if the message has no entry. E-2 Changes the entity and the entry in one step,
-- and E-8 the joined tokens too. E-6 All entities share one count of versions. A retry is recognised by its entry or
-- its token.
-- KEYS the entities, then the namespaces of the consumed token and of the created tokens, each once; ARGV key, message,
-- version or '', 'keep', 'put' or 'delete', state, op, 'entry' or '', content, memory or '', token or '', tokens to
-- create, each once
-- Returns committed | conflict | token gone

-- Lists an entry that an older version of the library stored but did not list. Also removes the mark that its entity
-- has no state and no entry.
local function list_again(name, known)
    if #redis.call('ZRANGEBYLEX', base .. ':x', '[' .. name, '[' .. name) > 0 then return end
    write('ZADD', base .. ':x', 0, name)
    if not known.since then return end
    write('HDEL', known.key, 't')
    write('ZREM', base .. ':d', ARGV[1])
end

local key, message, version, change, op = ARGV[1], ARGV[2], ARGV[3], ARGV[4], ARGV[6]
local has_entry, memory, token = ARGV[7] ~= '', tonumber(ARGV[9]), ARGV[10]
local name = name_of(key, message)
local known, entry = entity_of(key, memory), entry_of(name)
local incoming = token ~= '' and tokens_of(KEYS[2])
local state, by, bucket
if incoming then state, by, bucket = incoming.known(token, memory) end

if entry and entry.attempts[1] == op then
    list_again(name, known)
    return { 'committed' }
end
if state == 'G' and by == op then return { 'committed' } end
if entry or (known.version or '') ~= version then return { 'conflict' } end
if incoming and state ~= 'L' then return { 'token gone' } end

local outgoing = #ARGV > 10 and (incoming and #KEYS == 2 and incoming or tokens_of(KEYS[#KEYS]))
local unknown = outgoing and outgoing.unknown(ARGV, 11, memory)
local rests = not has_entry and change ~= 'put' and (change == 'delete' or not known.state) and not has_others(key, nil)
if head[2] and not tonumber(head[2]) then corrupt('a namespace whose last number is no number') end
check()
if incoming then incoming.check() end

local number = text(write('HINCRBY', base, 'n', 1))
if incoming then incoming.finish(token, bucket, op) end
if outgoing then outgoing.create(unknown) end
write('HSET', known.key, 'n', number)
if change == 'put' then write('HSET', known.key, 'v', ARGV[5]) end
if change == 'delete' and known.state then write('HDEL', known.key, 'v') end
if has_entry then
    local its = base .. ':m:' .. name
    write('HSET', its, 'a', packed(op), 'c', ARGV[8])
    if outgoing then write('HSET', its, 'x', op) end
    write('ZADD', base .. ':x', 0, name)
end
if rests then
    rest(key, known.key)
elseif known.since then
    write('HDEL', known.key, 't')
    write('ZREM', base .. ':d', key)
end
return { 'committed' }
