#!/bin/sh
# Runs the tests of the Go module in the working folder. Shows which tests were skipped, each with its reason, and their
# count; where a test failed, all output. Absent on purpose: anything that `go test` decides.
log=$(mktemp)
trap 'rm -f "$log"' EXIT
if ! go test -v ./... >"$log" 2>&1; then
  cat "$log"
  exit 1
fi
grep -E '^(ok|\?)' "$log"
awk '
  /^=== / { test = $3 }
  /^ +[^ ]+\.go:[0-9]+: / { reason[test] = $0; sub(/^ +/, "", reason[test]) }
  /^ *--- SKIP: / { skipped++; print "skipped: " $3 " (" reason[$3] ")" }
  END { if (skipped) print "skipped: " skipped " Go tests in all, for the reasons above" }
' "$log"
