#!/bin/sh
# Starts a built target in the foreground: run.sh MAIN_FILE. The heap limit is a
# flag of node and not a variable it reads, so it is put in here; exec keeps the
# process id, and with it the stop signal.
set -eu
exec node ${HEAP_MIB:+"--max-old-space-size=$HEAP_MIB"} "$1"
