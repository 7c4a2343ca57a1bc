//! `swoole.server`: `Swoole\Server::stats()` as JSON, which the target serves from one of its workers.
//!
//! | key | kind | in the answer (Swoole 6) |
//! |---|---|---|
//! | `connections` | gauge | `connection_num` |
//! | `workers`, `idle_workers` | gauge | `worker_num`, `idle_worker_num` |
//! | `task_workers`, `task_idle_workers`, `tasking` | gauge | `task_worker_num`, `task_idle_worker_num`, `tasking_num` |
//! | `coroutines` | gauge | `coroutine_num`, of the worker that answers |
//! | `requests` | delta | `request_count`, of all workers |
//! | `accepted`, `dispatched` | delta | `accept_count`, `dispatch_count` |
//!
//! Source: the manual of `Swoole\Server::stats` and swoole-src, ext-src/swoole_server.cc. The fixture is an answer of Swoole
//! 6.2.2.

use super::fields::Table;
use crate::error::ParseError;
use crate::reading::Reading;

/// Name of the source.
pub const NAME: &str = "swoole.server";

const TABLE: Table = Table {
    gauges: &[
        ("/connection_num", "connections"),
        ("/worker_num", "workers"),
        ("/idle_worker_num", "idle_workers"),
        ("/task_worker_num", "task_workers"),
        ("/task_idle_worker_num", "task_idle_workers"),
        ("/tasking_num", "tasking"),
        ("/coroutine_num", "coroutines"),
    ],
    counters: &[
        ("/request_count", "requests"),
        ("/accept_count", "accepted"),
        ("/dispatch_count", "dispatched"),
    ],
};

/// Parses the statistics.
///
/// # Errors
/// They are no JSON, or not Swoole's.
pub fn parse(body: &[u8]) -> Result<Reading, ParseError> {
    TABLE.parse(body)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_of_swoole_6_2() {
        let reading = parse(include_bytes!("../../fixtures/php/swoole.json")).unwrap();
        assert_eq!((reading.gauge("connections"), reading.gauge("idle_workers")), (Some(1.0), Some(3.0)));
        assert_eq!((reading.counter("accepted"), reading.counter("requests")), (Some(4), Some(3)));
        parse(br#"{"connection_num":-1}"#).unwrap_err();
        parse(b"Not found").unwrap_err();
    }
}
