-- Waits 10 to 50 ms before each request.
delay = function() return math.random(10, 50) end
