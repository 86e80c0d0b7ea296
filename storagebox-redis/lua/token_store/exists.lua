-- T-1, T-10 whether the token lives.
-- ARGV token
-- live | absent
return { known(ARGV[1]) == 'L' and 'live' or 'absent' }
