-- Gets a token with the first answer and sends it with all that follows.
token, path = nil, "/authenticate"

function request()
   return wrk.format("GET", path)
end

function response(status, headers)
   if token or status ~= 200 then
      return
   end
   token, path = headers["X-Token"], "/resource"
   wrk.headers["X-Token"] = token
end
