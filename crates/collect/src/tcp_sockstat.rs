//! `tcp.sockstat`: TCP sockets as they stand, from the line `TCP:` of `/proc/net/sockstat` (proc(5)). All are gauges.
//!
//! | key | meaning |
//! |---|---|
//! | `inuse` | sockets that are open, listening ones included |
//! | `orphan` | closed by their program, not yet by the protocol |
//! | `tw` | in TIME_WAIT; each holds a local port for 60 s (METHOD §9, port exhaustion) |
//! | `alloc` | all sockets with memory, `orphan` included |
//! | `mem_pages` | pages of socket buffers |

use crate::Roots;
use crate::error::{CollectError, ParseError};
use crate::reading::Reading;
use crate::source::{Differencing, Source};
use crate::text;

/// Name of the source.
pub const NAME: &str = "tcp.sockstat";

/// The kernel's key and prony's, which has the unit where there is one.
const FIELDS: [(&str, &str); 5] =
    [("inuse", "inuse"), ("orphan", "orphan"), ("tw", "tw"), ("alloc", "alloc"), ("mem", "mem_pages")];

/// Parses `/proc/net/sockstat`.
///
/// # Errors
/// Where the line `TCP:` is missing or a known value is no number.
pub fn parse(bytes: &[u8]) -> Result<Reading, ParseError> {
    let line = text::utf8(bytes)?
        .lines()
        .find_map(|line| line.strip_prefix("TCP:"))
        .ok_or(ParseError::Missing("the line `TCP:`"))?;
    let mut reading = Reading::default();
    let mut words = line.split_ascii_whitespace();
    while let (Some(key), Some(value)) = (words.next(), words.next()) {
        if let Some((_, name)) = FIELDS.iter().find(|(kernel, _)| *kernel == key) {
            reading.gauges.insert(name, text::amount(name, value)?);
        }
    }
    Ok(reading)
}

/// Reads the file under `roots`.
///
/// # Errors
/// Where it cannot be read or understood.
pub fn read(roots: &Roots) -> Result<Reading, CollectError> {
    text::read_parsed(&roots.proc.join("net/sockstat"), parse)
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
        let reading = parse(include_bytes!("../fixtures/proc/net/sockstat")).unwrap();
        let names: Vec<_> = reading.gauges.keys().copied().collect();
        assert_eq!(names, ["alloc", "inuse", "mem_pages", "orphan", "tw"]);
        assert!(reading.counters.is_empty());
    }

    #[test]
    fn values_go_to_their_names() {
        let reading =
            parse(b"sockets: used 9\nTCP: inuse 3 orphan 1 tw 28000 alloc 5 mem 2\nUDP: inuse 7 mem 9\n");
        assert_eq!(reading.unwrap().gauge("tw"), Some(28_000.0));
        assert_eq!(parse(b"UDP: inuse 1\n").unwrap_err(), ParseError::Missing("the line `TCP:`"));
        assert!(parse(b"TCP: inuse many\n").is_err());
    }
}
