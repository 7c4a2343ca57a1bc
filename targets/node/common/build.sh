#!/bin/sh
# Builds a Node target outside its source folder: build.sh NAME BUILD_FOLDER,
# run in the target's folder. Sources of the target and of common are copied
# side by side and the locked dependencies are installed there, so that the
# source folder stays as git has it.
#
# Nothing is done when neither the sources nor Node changed. The stamp is
# written last: a build that broke off is made again from the start.
set -eu

name=$1
build=$2
here=$(pwd)
common=$(cd ../common && pwd)

# Names relative to the folder, so that a moved repository is not built again.
sum() {
    (cd "$1" && find package.json package-lock.json .npmrc src proto -type f 2>/dev/null \
        | LC_ALL=C sort | xargs sha256sum)
}
state=$(node --version; sum "$here"; sum "$common"; sha256sum <"$common/build.sh")

if [ -f "$build/stamp" ] && [ "$(cat "$build/stamp")" = "$state" ]; then
    exit 0
fi
mkdir -p "$build"
rm -rf "${build:?}/stamp" "${build:?}/$name" "${build:?}/common"
mkdir "$build/$name" "$build/common"
cp -R "$here/package.json" "$here/package-lock.json" "$here/.npmrc" "$here/src" "$build/$name/"
if [ -d "$here/proto" ]; then cp -R "$here/proto" "$build/$name/"; fi
cp -R "$common/package.json" "$common/src" "$common/proto" "$build/common/"
cd "$build/$name"
npm ci --omit=dev --no-audit --no-fund
printf '%s\n' "$state" >"$build/stamp"
