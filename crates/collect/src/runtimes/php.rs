//! `php.runtime`: what the requests of a PHP target counted together of their collections and of their memory.
//!
//! | key | kind | in the answer (targets/php/common/src/Tally.php) |
//! |---|---|---|
//! | `gc_cycles`, `gc_pause_ns` | delta | `collections`, `collection_ns`: of all processes |
//! | `gc_pause_max_ns` | gauge | `longest_ns`, since the reading before |
//! | `held_bytes`, `used_bytes` | gauge | what PHP had from the system, and what was in use of it, at the peak of the largest request since the reading before |
//!
//! Only routes that count have part in it; without one since the reading before, the gauges are absent.

use super::fields::Table;
use crate::error::ParseError;
use crate::reading::Reading;

/// Name of the source.
pub const NAME: &str = "php.runtime";

const TABLE: Table = Table {
    gauges: &[
        ("/longest_ns", "gc_pause_max_ns"),
        ("/held_bytes", "held_bytes"),
        ("/used_bytes", "used_bytes"),
    ],
    counters: &[("/collections", "gc_cycles"), ("/collection_ns", "gc_pause_ns")],
};

/// Parses what the target tells.
///
/// # Errors
/// It is no JSON, or not that of a tally.
pub fn parse(body: &[u8]) -> Result<Reading, ParseError> {
    TABLE.parse(body)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_of_the_target() {
        let body = br#"{"collections":1001,"collection_ns":512000000,"longest_ns":811000,"held_bytes":4194304,"used_bytes":2202112}"#;
        let reading = parse(body).unwrap();
        assert_eq!(
            (reading.counter("gc_cycles"), reading.counter("gc_pause_ns")),
            (Some(1001), Some(512_000_000))
        );
        assert_eq!(reading.gauge("gc_pause_max_ns"), Some(811_000.0));
        assert_eq!(
            (reading.gauge("held_bytes"), reading.gauge("used_bytes")),
            (Some(4_194_304.0), Some(2_202_112.0))
        );
        let none = parse(
            br#"{"collections":0,"collection_ns":0,"longest_ns":null,"held_bytes":null,"used_bytes":null}"#,
        );
        assert_eq!(none.unwrap().gauge("gc_pause_max_ns"), None);
        parse(b"Not found").unwrap_err();
    }
}
