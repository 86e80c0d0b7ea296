-- Fails the script before its first write if its slot is moving. A cluster moves a slot to another node key by key.
-- Meanwhile it fails a script at the first key that is elsewhere, and does not undo the script's writes. This key never
-- exists, so it counts as elsewhere.
redis.call('HGET', KEYS[1] .. ':', '')
