
-- The library of tokens once more, for a namespace that the call joins: up to the end of `joined.lua`, KEYS and `head` are that
-- namespace's. Its pieces come in between.
local function tokens_of(key)
local KEYS, head = { key }, nil
local function opened(...) head = head_of(key, ...) end
