#!/bin/sh
# Builds the target of the current folder below the folder named first; its
# program is FOLDER/server. ALLOCATOR=mimalloc takes that instead of the C
# library's. Cargo itself reads CARGO_PROFILE_RELEASE_LTO.
set -eu
out=$1
case ${ALLOCATOR:=system} in
system) set -- ;;
mimalloc) set -- --features mimalloc ;;
*)
	echo "error: ALLOCATOR must be system or mimalloc, not \"$ALLOCATOR\"" >&2
	exit 1
	;;
esac
cargo build --release --locked --target-dir "$out/cargo" "$@"
# A copy, so that a build that breaks leaves the last program as it was.
cp -f "$out/cargo/release/server" "$out/server"
