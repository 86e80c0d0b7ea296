-- ER-5 The void calls of a claim or an operation are a text: the numbers of the calls, with a space before, between and
-- behind them, or '' if there are none. MOST_VOID is `Attempt::MAX_VOID`.
local MOST_VOID = 16

local function is_void(calls, call) return string.find(calls, ' ' .. call .. ' ', 1, true) end

-- Adds a call to the void calls. Returns nil if there are MOST_VOID of them already.
local function with_void(calls, call)
    local _, count = string.gsub(calls, '%S+', '')
    if count >= MOST_VOID then return nil end
    return (calls == '' and ' ' or calls) .. call .. ' '
end
