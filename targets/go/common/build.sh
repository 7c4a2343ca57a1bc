#!/bin/sh
# Builds the target of the current folder into the file named first. STATIC=true
# leaves cgo out, so that the binary needs no shared library; STRIP=true leaves
# out symbols and debugging data. Go has no variables of its own for both.
set -eu
for value in "${STATIC:=false}" "${STRIP:=false}"; do
	case $value in true | false) ;; *)
		echo "error: STATIC and STRIP must be true or false, not \"$value\"" >&2
		exit 1 ;;
	esac
done
if [ "$STATIC" = true ]; then export CGO_ENABLED=0; fi
if [ "$STRIP" = true ]; then set -- "$1" -ldflags "-s -w"; fi
out=$1
shift
exec go build -trimpath "$@" -o "$out" .
