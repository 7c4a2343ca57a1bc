//! `tcp.netstat`: the `TcpExt` counters that tell why connections or segments were lost, from `/proc/net/netstat`.
//!
//! All are deltas, under the kernel's own names (include/uapi/linux/snmp.h, Documentation/networking/snmp_counter.rst):
//!
//! | keys | meaning |
//! |---|---|
//! | `ListenOverflows`, `ListenDrops` | the accept queue was full; connections dropped at a listener for any reason |
//! | `TCPReqQFullDrop`, `TCPReqQFullDoCookies`, `SyncookiesSent` | the SYN queue was full |
//! | `TCPTimeouts`, `TCPSynRetrans`, `TCPLostRetransmit` | retransmission timers that fired; lost SYNs; lost again |
//! | `TCPFastRetrans`, `TCPSlowStartRetrans`, `TCPLossProbes`, `TCPSpuriousRtxHostQueues` | other retransmissions |
//! | `TCPAbortOnData`, `TCPAbortOnClose`, `TCPAbortOnMemory`, `TCPAbortOnTimeout`, `TCPAbortOnLinger` | resets by this side |
//! | `TCPBacklogDrop`, `TCPRcvQDrop`, `TCPZeroWindowDrop`, `RcvPruned`, `PruneCalled`, `TCPMemoryPressures` | no room for data |
//! | `TW`, `TWRecycled`, `TCPTimeWaitOverflow` | sockets that left TIME_WAIT by its timer; reused; too many to keep |
//! | `DelayedACKs`, `DelayedACKLost` | acknowledgements held back (40 ms modes) |
//!
//! The file is that of the generator's network namespace, prony's own or one for the trial: a target in a namespace of its
//! own is not seen here.

use crate::Roots;
use crate::error::{CollectError, ParseError};
use crate::reading::Reading;
use crate::source::{Differencing, Source};
use crate::{tcp_pairs, text};

/// Name of the source.
pub const NAME: &str = "tcp.netstat";

/// What is published.
pub const COUNTERS: [&str; 28] = [
    "ListenOverflows",
    "ListenDrops",
    "TCPReqQFullDrop",
    "TCPReqQFullDoCookies",
    "SyncookiesSent",
    "TCPTimeouts",
    "TCPSynRetrans",
    "TCPLostRetransmit",
    "TCPFastRetrans",
    "TCPSlowStartRetrans",
    "TCPLossProbes",
    "TCPSpuriousRtxHostQueues",
    "TCPAbortOnData",
    "TCPAbortOnClose",
    "TCPAbortOnMemory",
    "TCPAbortOnTimeout",
    "TCPAbortOnLinger",
    "TCPBacklogDrop",
    "TCPRcvQDrop",
    "TCPZeroWindowDrop",
    "RcvPruned",
    "PruneCalled",
    "TCPMemoryPressures",
    "TW",
    "TWRecycled",
    "TCPTimeWaitOverflow",
    "DelayedACKs",
    "DelayedACKLost",
];

/// Parses `/proc/net/netstat`.
///
/// # Errors
/// Where the section `TcpExt` is missing, uneven or has a value that is no number.
pub fn parse(bytes: &[u8]) -> Result<Reading, ParseError> {
    let pairs = tcp_pairs::section(bytes, "TcpExt")?;
    Ok(Reading { counters: tcp_pairs::select(&pairs, &COUNTERS).collect(), ..Reading::default() })
}

/// Reads the file under `roots`.
///
/// # Errors
/// Where it cannot be read or understood.
pub fn read(roots: &Roots) -> Result<Reading, CollectError> {
    text::read_parsed(&roots.proc.join("net/netstat"), parse)
}

pub(crate) fn source(roots: &Roots) -> Box<dyn Source> {
    let roots = roots.clone();
    Box::new(Differencing::new(NAME, move || read(&roots)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::reading::delta;

    const FIXTURE: &str = include_str!("../fixtures/proc/net/netstat");

    #[test]
    fn a_real_file_has_every_published_counter() {
        let reading = parse(FIXTURE.as_bytes()).unwrap();
        for name in COUNTERS {
            assert!(reading.counter(name).is_some(), "{name} is not in the kernel's file");
        }
        assert!(reading.counter("TW").unwrap() > 0);
        assert!(reading.gauges.is_empty());
    }

    #[test]
    fn an_overflowing_accept_queue_shows() {
        let text = |overflows: u64| format!("TcpExt: TW ListenOverflows\nTcpExt: 3 {overflows}\n");
        let deltas = delta(&parse(text(4).as_bytes()).unwrap(), &parse(text(9).as_bytes()).unwrap());
        assert_eq!(deltas["ListenOverflows"], 5.0);
        assert!(!deltas.contains_key("TCPTimeouts"), "what the kernel lacks is absent, not zero");
    }
}
