-- Sends three requests at once.
local text

function init()
   local three = {}
   for _, query in ipairs { "foo", "bar", "baz" } do
      three[#three + 1] = wrk.format(nil, "/?" .. query)
   end
   text = table.concat(three)
end

function request()
   return text
end
