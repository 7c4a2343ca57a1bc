//! `tcp.snmp`: the `Tcp` section of `/proc/net/snmp` (RFC 4022), under the kernel's own names.
//!
//! | key | kind | meaning |
//! |---|---|---|
//! | `ActiveOpens`, `PassiveOpens` | delta | connections begun from here; accepted here |
//! | `AttemptFails` | delta | connections that failed before they were established |
//! | `EstabResets` | delta | established connections that were reset |
//! | `CurrEstab` | gauge | connections that are established now |
//! | `InSegs`, `OutSegs` | delta | segments; `OutSegs` is without retransmitted ones |
//! | `RetransSegs` | delta | segments sent again; METHOD §9 compares it with `OutSegs` |
//! | `InErrs`, `OutRsts` | delta | broken segments; segments with the reset flag |
//!
//! On loopback both ends are counted: one connection is one active and one passive open.

use crate::Roots;
use crate::error::{CollectError, ParseError};
use crate::reading::Reading;
use crate::source::{Differencing, Source};
use crate::{tcp_pairs, text};

/// Name of the source.
pub const NAME: &str = "tcp.snmp";

/// What is published as increases.
pub const COUNTERS: [&str; 9] = [
    "ActiveOpens",
    "PassiveOpens",
    "AttemptFails",
    "EstabResets",
    "InSegs",
    "OutSegs",
    "RetransSegs",
    "InErrs",
    "OutRsts",
];

/// Parses `/proc/net/snmp`.
///
/// # Errors
/// Where the section `Tcp` is missing, uneven or has a value that is no number.
pub fn parse(bytes: &[u8]) -> Result<Reading, ParseError> {
    let pairs = tcp_pairs::section(bytes, "Tcp")?;
    Ok(Reading {
        gauges: tcp_pairs::select(&pairs, &["CurrEstab"]).map(|(name, value)| (name, value as f64)).collect(),
        counters: tcp_pairs::select(&pairs, &COUNTERS).collect(),
    })
}

/// Reads the file under `roots`.
///
/// # Errors
/// Where it cannot be read or understood.
pub fn read(roots: &Roots) -> Result<Reading, CollectError> {
    text::read_parsed(&roots.proc.join("net/snmp"), parse)
}

pub(crate) fn source(roots: &Roots) -> Box<dyn Source> {
    let roots = roots.clone();
    Box::new(Differencing::new(NAME, move || read(&roots)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_real_file() {
        let reading = parse(include_bytes!("../fixtures/proc/net/snmp")).unwrap();
        assert_eq!(reading.counters.len(), COUNTERS.len());
        assert!(reading.counter("ActiveOpens").unwrap() > 100_000);
        assert!(reading.gauge("CurrEstab").unwrap() < 1_000.0);
        assert!(!reading.counters.contains_key("MaxConn"));
    }
}
