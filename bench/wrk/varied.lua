-- A mix of paths and fields, for looking at a proxy by hand:
--
--   wrk -t1 -c64 -d5s -s bench/wrk/varied.lua http://127.0.0.1:8080
--
-- The requests are made once, so that wrk stays as cheap as without a script.

local made = {}
local at = 0

function init(args)
  local sizes = { "/128", "/1k", "/4k", "/16k" }
  for i = 1, 64 do
    local fields = {
      ["Accept"] = "*/*",
      ["User-Agent"] = "wrk",
      ["Cookie"] = "session=" .. string.rep("c", 16 * (i % 8)),
      ["X-Request-Number"] = tostring(i),
    }
    made[i] = wrk.format("GET", sizes[i % #sizes + 1] .. "?n=" .. i, fields)
  end
end

function request()
  at = at % #made + 1
  return made[at]
end
