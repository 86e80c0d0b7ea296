-- Removes ids without a record from the list of records: a script that ended the record failed half-way.
return walk_names(function(one)
    if redis.call('HGET', base .. ':r:' .. one, 's') ~= 'D' then mend('ZREM', zset, one) end
end)
