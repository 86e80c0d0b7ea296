-- An id that is listed and has no record: one whose end was refused half-way.
return walk_names(function(one)
    if redis.call('HGET', base .. ':r:' .. one, 's') ~= 'D' then mend('ZREM', zset, one) end
end)
