-- Percentiles as comma separated values once the load is over.
function done(_, latency)
   io.write(("-"):rep(30), "\n")
   for _, percent in ipairs { 50, 90, 99, 99.999 } do
      io.write(("%g%%,%d\n"):format(percent, latency:percentile(percent)))
   end
end
