#!/bin/sh
# Builds a JVM target outside its source folder: build.sh MODULE BUILD_FOLDER,
# run in the target's folder. Maven compares times of files and starts slowly;
# the stamp makes a build without changes cost nothing. It is written last: a
# build that broke off is made again from the start.
set -eu

module=$1
build=$2
cd ..
root=$(pwd)

state=$(java -version 2>&1 | head -n 1
    find pom.xml common "$module" ../../services/grpc/proto ../proto -path '*/.build' -prune -o -type f -print \
        | LC_ALL=C sort | xargs sha256sum)
if [ -f "$build/stamp" ] && [ "$(cat "$build/stamp")" = "$state" ]; then
    exit 0
fi
mkdir -p "$build"
rm -f "$build/stamp"
mvn --batch-mode --no-transfer-progress --quiet -f "$root/pom.xml" -pl "$module" -am \
    -Dprony.build="$build" -Dmaven.test.skip=true package
printf '%s\n' "$state" >"$build/stamp"
