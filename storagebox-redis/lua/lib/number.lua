-- Returns a number as text, because `..` would round it.
local function text(number) return string.format('%.0f', number) end

-- Returns a moment as text of fixed width, so that any text can follow it.
local function stamp(moment) return string.format('%016.0f', moment) end
local function stamped(value, from) return tonumber(string.sub(value, from, from + 15)) end
