-- A number as text: `..` would round it.
local function text(number) return string.format('%.0f', number) end

-- A moment in a field of one width, so that it can stand in front of anything.
local function stamp(moment) return string.format('%016.0f', moment) end
local function stamped(value, from) return tonumber(string.sub(value, from, from + 15)) end
