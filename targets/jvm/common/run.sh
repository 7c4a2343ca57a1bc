#!/bin/sh
# Starts a built target in the foreground: run.sh JAR. Heap and collector are
# flags of java and not variables it reads, so they are put in here; exec keeps
# the process id, and with it the stop signal.
set -eu
case "${GC:-G1}" in
    G1 | Parallel | Serial) gc="-XX:+Use${GC:-G1}GC" ;;
    ZGC) gc="-XX:+UseZGC" ;;
    *)
        echo "error: GC=\"$GC\": set it to G1, Parallel, ZGC or Serial, or leave it out" >&2
        exit 1
        ;;
esac
exec java "$gc" ${HEAP_MIB:+"-Xms${HEAP_MIB}m" "-Xmx${HEAP_MIB}m"} -jar "$1"
