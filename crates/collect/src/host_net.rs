//! `host.net`: what network devices carried, from `/proc/net/dev` (proc(5)) and `/sys/class/net/*/speed`.
//!
//! | key | kind | meaning |
//! |---|---|---|
//! | `rx_bytes`, `tx_bytes`, `rx_packets`, `tx_packets` | delta | received and sent by all devices but loopback |
//! | `rx_errors`, `rx_drops`, `tx_errors`, `tx_drops` | delta | lost there |
//! | `lo_rx_bytes`, … | delta | the same eight of loopback |
//! | `dev.<name>.rx_bytes`, `dev.<name>.tx_bytes` | delta | of each device that carried something in the tick; the
//! [`DEVICES_MAX`] that carried most |
//! | `speed_bytes_per_s` | gauge | smallest speed of a device of hardware that is up and tells its speed |
//!
//! The file is that of the reader's network namespace. A packet that crosses several devices (bridge, veth) is in the
//! sum once for each. Speeds are read once: a link that changes its speed under load is not seen.

use crate::Roots;
use crate::error::{CollectError, ParseError};
use crate::reading::Values;
use crate::source::{Comparable, Differencing, Source};
use crate::text;
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

/// Name of the source.
pub const NAME: &str = "host.net";
/// Most devices with deltas of their own.
pub const DEVICES_MAX: usize = 16;
/// Most devices that are read; hosts with many containers have hundreds.
const DEVICES_READ_MAX: usize = 4_096;
/// Longest name of a device (IFNAMSIZ - 1).
const NAME_BYTES_MAX: usize = 15;
/// Bytes per second in one Mbit/s.
const MBIT_BYTES: u64 = 125_000;

/// Column after the colon, and the name.
const COLUMNS: [(usize, &str); 8] = [
    (0, "rx_bytes"),
    (1, "rx_packets"),
    (2, "rx_errors"),
    (3, "rx_drops"),
    (8, "tx_bytes"),
    (9, "tx_packets"),
    (10, "tx_errors"),
    (11, "tx_drops"),
];

/// Counts of a device in the order of [`COLUMNS`].
type Counts = [u64; COLUMNS.len()];

/// One reading.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Devices {
    counts: BTreeMap<String, Counts>,
    speed_bytes_per_s: Option<u64>,
}

/// Parses `/proc/net/dev`.
///
/// # Errors
/// Where there is no device, or one has too few columns or a count that is no number.
pub fn parse(bytes: &[u8]) -> Result<Devices, ParseError> {
    let mut counts = BTreeMap::new();
    // The two lines of headings have no colon.
    for line in text::utf8(bytes)?.lines().take(DEVICES_READ_MAX) {
        let Some((name, columns)) = line.split_once(':') else { continue };
        let name = name.trim();
        if name.is_empty() || name.len() > NAME_BYTES_MAX || name.chars().any(char::is_control) {
            return Err(ParseError::Missing("the name of a network device"));
        }
        counts.insert(name.to_owned(), device(columns)?);
    }
    if counts.is_empty() {
        return Err(ParseError::Missing("a network device"));
    }
    Ok(Devices { counts, speed_bytes_per_s: None })
}

fn device(columns: &str) -> Result<Counts, ParseError> {
    let words: Vec<&str> = columns.split_ascii_whitespace().take(16).collect();
    let mut counts = Counts::default();
    for (count, (column, name)) in counts.iter_mut().zip(COLUMNS) {
        *count = text::number(name, words.get(column).ok_or(ParseError::Missing(name))?)?;
    }
    Ok(counts)
}

impl Comparable for Devices {
    fn gauges(&self, _: Option<&Self>) -> Values {
        let speed = self.speed_bytes_per_s.map(|speed| ("speed_bytes_per_s".to_owned(), speed as f64));
        speed.into_iter().collect()
    }

    fn deltas(&self, previous: &Self) -> Values {
        let mut values = Values::new();
        let mut moved = Vec::new();
        for (name, now) in &self.counts {
            let Some(rises) = previous.counts.get(name).and_then(|before| rises(before, now)) else {
                continue;
            };
            let prefix = if name == "lo" { "lo_" } else { "" };
            for ((_, column), rise) in COLUMNS.iter().zip(rises) {
                *values.entry(format!("{prefix}{column}")).or_default() += rise as f64;
            }
            let carried = rises[0].saturating_add(rises[4]);
            if carried > 0 {
                moved.push((carried, name, rises));
            }
        }
        moved.sort_by(|a, b| b.0.cmp(&a.0).then_with(|| a.1.cmp(b.1)));
        for (_, name, rises) in moved.into_iter().take(DEVICES_MAX) {
            values.insert(format!("dev.{name}.rx_bytes"), rises[0] as f64);
            values.insert(format!("dev.{name}.tx_bytes"), rises[4] as f64);
        }
        values
    }
}

/// Nothing where a count went backwards: the device was recreated.
fn rises(before: &Counts, now: &Counts) -> Option<Counts> {
    let mut rises = Counts::default();
    for ((rise, before), now) in rises.iter_mut().zip(before).zip(now) {
        *rise = now.checked_sub(*before)?;
    }
    Some(rises)
}

/// The smallest speed of a device of hardware that is up.
#[must_use]
pub fn speed_bytes_per_s(roots: &Roots) -> Option<u64> {
    let devices = fs::read_dir(roots.sys.join("class/net")).ok()?.flatten().take(DEVICES_READ_MAX);
    devices.filter_map(|device| speed(&device.path())).min()
}

fn speed(device: &Path) -> Option<u64> {
    let word = |file: &str| String::from_utf8(text::read_optional(&device.join(file))?).ok();
    let is_real = device.join("device").exists() && word("operstate")?.trim() == "up";
    // Virtual cards tell -1.
    let mbit: u64 = word("speed").filter(|_| is_real)?.trim().parse().ok()?;
    mbit.checked_mul(MBIT_BYTES).filter(|speed| *speed > 0)
}

/// Reads `/proc/net/dev` under `roots`.
///
/// # Errors
/// Where it cannot be read or understood.
pub fn read(roots: &Roots, speed_bytes_per_s: Option<u64>) -> Result<Devices, CollectError> {
    let devices = text::read_parsed(&roots.proc.join("net/dev"), parse)?;
    Ok(Devices { speed_bytes_per_s, ..devices })
}

pub(crate) fn source(roots: &Roots) -> Box<dyn Source> {
    let roots = roots.clone();
    let speed = speed_bytes_per_s(&roots);
    Box::new(Differencing::new(NAME, move || read(&roots, speed)))
}

#[cfg(test)]
mod tests {
    use super::*;

    const FIXTURE: &[u8] = include_bytes!("../fixtures/proc/net/dev");

    #[test]
    fn a_real_file() {
        let devices = parse(FIXTURE).unwrap();
        assert_eq!(devices.counts.keys().collect::<Vec<_>>(), ["eth0", "ifb0", "ifb1", "lo"]);
        assert!(devices.counts["lo"][0] > 1 << 39, "beyond 32 bits");
        assert!(devices.counts["eth0"][0] > devices.counts["eth0"][4]);
        assert!(devices.gauges(None).is_empty());
    }

    #[test]
    fn loopback_is_apart_and_only_what_moved_is_named() {
        let text = |eth: u64, idle: u64, lo: u64| {
            format!(
                "heading | x\n lo: {lo} 1 0 7 0 0 0 0 {lo} 1 0 0 0 0 0 0\n\
                 eth0:{eth} 2 0 0 0 0 0 0 5 2 0 0 0 0 0 0\n  eth1: {idle} 2 0 0 0 0 0 0 5 2 0 0 0 0 0 0\n"
            )
        };
        let of = |eth, idle, lo| parse(text(eth, idle, lo).as_bytes()).unwrap();
        let deltas = of(130, 9, 1_000).deltas(&of(100, 9, 400));
        assert_eq!((deltas["rx_bytes"], deltas["tx_bytes"], deltas["lo_rx_bytes"]), (30.0, 0.0, 600.0));
        assert_eq!((deltas["dev.eth0.rx_bytes"], deltas["dev.lo.tx_bytes"]), (30.0, 600.0));
        assert!(!deltas.contains_key("dev.eth1.rx_bytes"));
        let anew = of(3, 10, 400).deltas(&of(100, 9, 400));
        assert_eq!(anew["rx_bytes"], 1.0, "eth0 was recreated, eth1 counts");
    }

    #[test]
    fn names_are_bounded_to_those_that_carried_most() {
        let text = |each: u64| -> String {
            (0..40).map(|n| format!("veth{n}: {} 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0\n", each * n)).collect()
        };
        let deltas = parse(text(2).as_bytes()).unwrap().deltas(&parse(text(1).as_bytes()).unwrap());
        assert_eq!(deltas.keys().filter(|name| name.starts_with("dev.")).count(), 2 * DEVICES_MAX);
        assert!(deltas.contains_key("dev.veth39.rx_bytes") && !deltas.contains_key("dev.veth3.rx_bytes"));
    }

    #[test]
    fn the_slowest_real_device_gives_the_speed() {
        let folder = tempfile::tempdir().unwrap();
        let roots = Roots { proc: folder.path().into(), sys: folder.path().into() };
        assert_eq!(speed_bytes_per_s(&roots), None);
        let devices = [
            ("eth0", "up", "10000", true),
            ("eth1", "up", "1000", true),
            ("eth2", "down", "10", true),
            ("veth0", "up", "10", false),
            ("eth3", "up", "-1", true),
        ];
        for (name, state, speed, real) in devices {
            let at = folder.path().join("class/net").join(name);
            fs::create_dir_all(if real { at.join("device") } else { at.clone() }).unwrap();
            fs::write(at.join("operstate"), state).unwrap();
            fs::write(at.join("speed"), speed).unwrap();
        }
        assert_eq!(speed_bytes_per_s(&roots), Some(125_000_000));
        let devices = Devices { speed_bytes_per_s: Some(125_000_000), ..Devices::default() };
        assert_eq!(devices.gauges(None)["speed_bytes_per_s"], 125e6);
    }

    #[test]
    fn what_is_wrong_is_said() {
        assert!(parse(b"").is_err());
        assert!(parse(b"eth0: 1 2 3\n").is_err());
        assert!(parse(b"eth0: 1 2 3 4 5 6 7 8 9 x 11 12\n").is_err());
        assert!(parse(b"a name that is too long: 1 2 3 4 5 6 7 8 9 10 11 12\n").is_err());
        assert!(parse(b"\xff").is_err());
    }
}
