-- Repairs ids that are listed without a record, because ending the record was refused half-way.
return walk_names(function(one)
    if redis.call('HGET', base .. ':r:' .. one, 's') ~= 'D' then mend('ZREM', zset, one) end
end)
