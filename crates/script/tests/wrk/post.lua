-- Nothing but settings: the request is always the same.
wrk.method, wrk.body = "POST", "foo=bar&baz=quux"
wrk.headers["Content-Type"] = "application/x-www-form-urlencoded"
