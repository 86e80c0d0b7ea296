-- A cluster moves a slot to another node key by key. Meanwhile the server fails a script at the first key that is not here,
-- and does not undo what it wrote before. This key is never anywhere: while its slot moves, the script fails here, before it
-- wrote anything.
redis.call('HGET', KEYS[1] .. ':', '')
