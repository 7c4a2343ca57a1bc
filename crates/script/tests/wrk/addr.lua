-- Gives each thread one of the addresses that accept a connection, and says which.
local usable

function setup(thread)
   if usable == nil then
      usable = {}
      for _, addr in ipairs(wrk.lookup(wrk.host, wrk.port or "http")) do
         if wrk.connect(addr) then
            usable[#usable + 1] = addr
         end
      end
   end
   thread.addr = usable[math.random(#usable)]
end

function init()
   print(("thread addr: %s"):format(wrk.thread.addr))
end
