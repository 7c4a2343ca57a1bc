#!/bin/sh
# Runs one binary of tests for `cargo test` (`make test-rust`), as its folder and its crate want it.
#
# As many tests as there are CPUs run at a time; of crates whose tests mostly wait, for a time limit or their turn to
# measure, twice as many.
case "${CARGO_PKG_NAME:-}" in
  prony | generate) export RUST_TEST_THREADS="${RUST_TEST_THREADS:-$((2 * $(nproc)))}" ;;
esac
exec "$@"
