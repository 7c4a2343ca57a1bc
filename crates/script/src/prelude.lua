-- The table `wrk` with the functions that wrk's SCRIPTING page documents, and what prony calls in each state.
--
-- Field names, what is looked up when, and what is written where are wrk's (4.1), because scripts see it. The order
-- of header fields is not: wrk's is that of a hash table with a random seed, so it differs between runs and even
-- between threads. Here it is always the same: Host first, the others by name.
--
-- Absent on purpose: sockets, names and threads. They are prony's, given as `native`.

local native = ...
local type, tostring, pairs, ipairs = type, tostring, pairs, ipairs
local string_len, concat = string.len, table.concat

local wrk = {
   scheme  = native.scheme,
   host    = native.host,
   port    = native.port,
   method  = "GET",
   path    = native.path,
   headers = {},
   lookup  = native.lookup,
   connect = native.connect,
}

function wrk.resolve(host, service)
   local reachable = {}
   for _, addr in ipairs(wrk.lookup(host, service)) do
      if wrk.connect(addr) then
         reachable[#reachable + 1] = addr
      end
   end
   wrk.addrs = reachable
end

function wrk.setup(thread)
   thread.addr = wrk.addrs[1]
   if type(setup) == "function" then
      setup(thread)
   end
end

local function authority()
   local name = wrk.host
   if name:find(":", 1, true) then
      name = "[" .. name .. "]"
   end
   return wrk.port and name .. ":" .. wrk.port or name
end

function wrk.init(args)
   wrk.headers["Host"] = wrk.headers["Host"] or authority()
   if type(init) == "function" then
      init(args)
   end
   local rendered = wrk.format()
   wrk.request = function()
      return rendered
   end
end

-- Used again by every call, so that a request leaves nothing but its text to the collector.
local names, values, parts = {}, {}, {}

-- Puts a field into its place; returns how many there are then. Insertion: there are few, and it compiles.
local function insert(count, name, value)
   local at = count
   while at > 0 and names[at] > name do
      names[at + 1], values[at + 1] = names[at], values[at]
      at = at - 1
   end
   names[at + 1], values[at + 1] = name, value
   return count + 1
end

function wrk.format(method, path, headers, body)
   method, path = method or wrk.method, path or wrk.path
   headers, body = headers or wrk.headers, body or wrk.body

   -- wrk leaves both in the table that it was given, and scripts can see them there.
   if not headers["Host"] then
      headers["Host"] = wrk.headers["Host"]
   end
   headers["Content-Length"] = body and string_len(body)

   local fields = 0
   for name, value in pairs(headers) do
      if name ~= "Host" then
         fields = insert(fields, tostring(name), tostring(value))
      end
   end

   parts[1], parts[2], parts[3], parts[4] = tostring(method), " ", tostring(path), " HTTP/1.1\r\n"
   local at = 4
   local host = headers["Host"]
   if host then
      parts[5], parts[6], parts[7] = "Host: ", tostring(host), "\r\n"
      at = 7
   end
   for i = 1, fields do
      parts[at + 1], parts[at + 2], parts[at + 3], parts[at + 4] = names[i], ": ", values[i], "\r\n"
      at = at + 4
   end
   parts[at + 1], parts[at + 2] = "\r\n", body or ""
   return concat(parts, "", 1, at + 2)
end

-- The functions are looked up with every call, as wrk does: scripts exchange them while they run.
local calls = {}

function calls.request()
   local make = request
   if type(make) ~= "function" then
      make = wrk.request
   end
   return make()
end

function calls.delay()
   return delay()
end

function calls.response(status, headers, body)
   response(status, headers, body)
end

function calls.is_function(name)
   return type(_G[name]) == "function"
end

-- wrk counts the script's own arguments from 1; the URL is number 0.
function calls.init(url, ...)
   local args = { ... }
   args[0] = url
   wrk.init(args)
end

-- Standard output buffers; prony's own text must come in its turn.
function calls.flush()
   io.stdout:flush()
end

-- Everything that a script prints goes to `file`.
function calls.print_to(file)
   io.output(file)
   io.stdout = file
   print = function(...)
      local texts = {}
      for i = 1, select("#", ...) do
         texts[i] = tostring((select(i, ...)))
      end
      file:write(concat(texts, "\t"), "\n")
   end
end

-- Where Debian and others keep Lua modules; a LuaJIT of the distribution looks there too.
package.path = package.path .. ";/usr/share/lua/5.1/?.lua;/usr/share/lua/5.1/?/init.lua"
package.loaders[3] = function()
   return "\n\tno modules in C, and no ffi: prony runs scripts in safe mode; use a module in Lua"
end
package.loaded.wrk = wrk
_G.wrk = wrk

return calls
