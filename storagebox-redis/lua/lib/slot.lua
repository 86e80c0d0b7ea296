-- Fails the script before its first write if its slot is moving: a cluster moves a slot to another node key by key, and
-- meanwhile fails a script at the first key that is elsewhere, without undoing its writes. This key never exists, so it
-- counts as elsewhere.
redis.call('HGET', KEYS[1] .. ':', '')
