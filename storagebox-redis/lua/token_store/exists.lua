-- T-1, T-10 Tests whether the token is live.
-- ARGV token
-- Returns live | absent
return { known(ARGV[1]) == 'L' and 'live' or 'absent' }
