
-- The token library for a namespace that the call joins. The pieces of the library are inserted after this one. Up to
-- the end of `joined.lua`, KEYS and `head` belong to the joined namespace.
local function tokens_of(key)
local KEYS, head = { key }, nil
local function opened(...) head = head_of(key, ...) end
