//! `php.fpm`: the status page of PHP-FPM, as JSON (`?json`).
//!
//! | key | kind | in the answer |
//! |---|---|---|
//! | `active`, `idle`, `total` | gauge | `active processes`, `idle processes`, `total processes` |
//! | `max_active` | gauge | `max active processes`, since the start |
//! | `listen_queue` | gauge | `listen queue`: connections that wait for a process |
//! | `listen_queue_limit` | gauge | `listen queue len`; absent where it is 0, as for Unix sockets, whose limit FPM cannot tell |
//! | `children_max` | gauge | `total processes` with the manager `static`, which starts all at once; else absent |
//! | `max_children_reached` | delta | `max children reached`; a static pool never counts it |
//! | `accepted`, `slow_requests` | delta | `accepted conn`, `slow requests` |
//!
//! Of a Unix socket FPM cannot see the queue either: `listen_queue` is then always 0. The reading itself occupies a
//! process unless the page has a listener of its own (`pm.status_listen`).
//! Source: php-src, sapi/fpm/fpm/fpm_status.c.

use super::fields::Table;
use crate::error::ParseError;
use crate::reading::Reading;
use serde_json::Value;

/// Name of the source.
pub const NAME: &str = "php.fpm";

const TABLE: Table = Table {
    gauges: &[
        ("/active processes", "active"),
        ("/idle processes", "idle"),
        ("/total processes", "total"),
        ("/max active processes", "max_active"),
        ("/listen queue", "listen_queue"),
        ("/listen queue len", "listen_queue_limit"),
    ],
    counters: &[
        ("/max children reached", "max_children_reached"),
        ("/slow requests", "slow_requests"),
        ("/accepted conn", "accepted"),
    ],
};

/// Parses the status page.
///
/// # Errors
/// It is no JSON, or not FPM's.
pub fn parse(body: &[u8]) -> Result<Reading, ParseError> {
    let json: Value = serde_json::from_slice(body).map_err(|error| ParseError::Json(error.to_string()))?;
    let mut reading = TABLE.read(&json)?;
    if reading.gauge("listen_queue_limit") == Some(0.0) {
        reading.gauges.remove("listen_queue_limit");
    }
    if let (Some("static"), Some(total)) =
        (json.get("process manager").and_then(Value::as_str), reading.gauge("total"))
    {
        reading.gauges.insert("children_max", total);
    }
    Ok(reading)
}

#[cfg(test)]
mod tests {
    use super::*;

    const REAL: &[u8] = include_bytes!("../../fixtures/php/fpm.json");

    #[test]
    fn a_real_answer_of_php_8_2() {
        let reading = parse(REAL).unwrap();
        for (name, value) in
            [("active", 1.0), ("idle", 15.0), ("total", 16.0), ("children_max", 16.0), ("listen_queue", 0.0)]
        {
            assert_eq!(reading.gauge(name), Some(value), "{name}");
        }
        assert_eq!(reading.gauge("listen_queue_limit"), None, "a Unix socket does not tell it");
        assert_eq!(
            (reading.counter("accepted"), reading.counter("max_children_reached")),
            (Some(4), Some(0))
        );
    }

    #[test]
    fn only_a_static_pool_tells_how_many_children_it_may_have() {
        let text = String::from_utf8(REAL.to_vec()).unwrap();
        let reading = parse(text.replace("\"static\"", "\"ondemand\"").as_bytes()).unwrap();
        assert_eq!(reading.gauge("children_max"), None);
        let reading = parse(text.replace("queue len\":0", "queue len\":4096").as_bytes()).unwrap();
        assert_eq!(reading.gauge("listen_queue_limit"), Some(4096.0));
        parse(b"pool: www").unwrap_err();
    }
}
