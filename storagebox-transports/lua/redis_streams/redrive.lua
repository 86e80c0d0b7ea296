-- Sends the oldest parked messages again, each with its fields.
-- KEYS: the stream, the stream of parked messages. ARGV: the maximum number. Returns the number of messages sent.
local stream, parked = KEYS[1], KEYS[2]
demand('XADD', stream, '*', '', '')
demand('XDEL', parked, '0-0')
local entries = redis.call('XRANGE', parked, '-', '+', 'COUNT', ARGV[1])
for _, entry in ipairs(entries) do
    redis.call('XADD', stream, '*', unpack(entry[2]))
    redis.call('XDEL', parked, entry[1])
end
return #entries
