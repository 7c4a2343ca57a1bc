-- Another path and another header field with each request; each thread counts for itself.
counter = 0

function request()
   local number = counter
   counter = number + 1
   wrk.headers["X-Counter"] = number
   return wrk.format(nil, "/" .. number)
end
