#!/bin/sh
# Starts a built target in the foreground: run.sh JAR. Heap and collector are
# flags of java and not variables it reads, so they are put in here; exec keeps
# the process id, and with it the stop signal. JAVA is the program, for a test.
set -eu
case "${GC:-G1}" in
    G1 | Parallel | Serial) gc="-XX:+Use${GC:-G1}GC" ;;
    ZGC) gc="-XX:+UseZGC" ;;
    *)
        echo "error: GC=\"$GC\": set it to G1, Parallel, ZGC or Serial, or leave it out" >&2
        exit 1
        ;;
esac
case "${GC_LOG:-false}" in
    # On standard output, which prony keeps as the trial's target.log.
    true) log="-Xlog:gc*=info:stdout:time,uptime" ;;
    false) log= ;;
    *)
        echo "error: GC_LOG=\"$GC_LOG\": set it to true or false, or leave it out" >&2
        exit 1
        ;;
esac
exec "${JAVA:-java}" "$gc" ${log:+"$log"} ${HEAP_MIB:+"-Xms${HEAP_MIB}m" "-Xmx${HEAP_MIB}m"} \
    ${MAX_GC_PAUSE_MS:+"-XX:MaxGCPauseMillis=$MAX_GC_PAUSE_MS"} ${GC_TIME_RATIO:+"-XX:GCTimeRatio=$GC_TIME_RATIO"} -jar "$1"
