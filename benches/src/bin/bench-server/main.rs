//! The server of a benchmark: it answers from memory, on one thread, and costs far less than any generator.
//!
//! `bench-server` listens on two free ports of 127.0.0.1, HTTP and HTTPS, and says so on standard output
//! (`listening on HTTP HTTPS`). `GET /ping` is answered with 31 bytes of JSON, `/large` with 64 KiB, `/close` as
//! `/ping` and then the connection ends, `/stamp` as `/ping` with both moments kept. `/-/...` is for the harness and
//! is counted nowhere: `counts`, `stamps/begin`, `stamps/end`. A client that begins with HTTP/2's preface is answered as
//! for `/ping` on every stream.
//! Invariants: every answer is written before the first connection; a request is a head, whatever comes up to an empty
//! line; full handshakes only (no session tickets, no cache), so that all peers pay the same.
//! Absent on purpose: request bodies, chunks, time-outs, logs, and any option that a run does not need.

mod answer;
mod connection;
mod listen;
mod server;
mod stamps;
mod streams;

use std::process::ExitCode;

fn main() -> ExitCode {
    match server::run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("bench-server: {error}");
            ExitCode::from(2)
        }
    }
}
