-- Exact integers of 64 bits: a Lua number is a double, which cannot tell 2^53 + 1 from 2^53. A number has two parts
-- here, high * 10^10 + low, with low from 0 to 10^10 - 1.
local PART = 10000000000

local function whole(digits)
    local minus = string.sub(digits, 1, 1) == '-'
    if minus then digits = string.sub(digits, 2) end
    local high, low = tonumber(string.sub(digits, 1, -11)) or 0, tonumber(string.sub(digits, -10))
    if not minus then return high, low end
    if low == 0 then return 0 - high, 0 end
    return 0 - high - 1, PART - low
end

local function sum(high, low, other_high, other_low)
    high, low = high + other_high, low + other_low
    if low >= PART then return high + 1, low - PART end
    return high, low
end

local function is_less(high, low, other_high, other_low)
    return high < other_high or (high == other_high and low < other_low)
end

local function in_digits(high, low)
    local minus = ''
    if high < 0 then
        minus, high, low = '-', 0 - high, 0 - low
        if low < 0 then high, low = high - 1, low + PART end
    end
    if high == 0 then return minus .. string.format('%.0f', low) end
    return minus .. string.format('%.0f%010.0f', high, low)
end
