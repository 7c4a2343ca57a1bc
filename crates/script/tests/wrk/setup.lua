-- Numbers the threads, and asks them at the end what they did.
local all = {}

function setup(thread)
   all[#all + 1] = thread
   thread:set("id", #all)
end

function init()
   requests, responses = 0, 0
   print(("thread %d created"):format(id))
end

function request()
   requests = requests + 1
   return wrk.request()
end

function response()
   responses = responses + 1
end

function done()
   local line = "thread %d made %d requests and got %d responses"
   for _, thread in ipairs(all) do
      print(line:format(thread:get("id"), thread:get("requests"), thread:get("responses")))
   end
end
