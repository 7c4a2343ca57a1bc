//! `host.disk`: what disks read and wrote and how long they were busy, from `/proc/diskstats`
//! (Documentation/admin-guide/iostats.rst).
//!
//! | key | kind | meaning |
//! |---|---|---|
//! | `reads`, `writes` | delta | requests that were completed |
//! | `read_bytes`, `written_bytes` | delta | what they carried |
//! | `read_ns`, `write_ns` | delta | time of all requests added up; divided by their number, the mean time of one |
//! | `busy_ns` | delta | time in which at least one request was under way, of the disk where it was longest |
//! | `in_flight` | gauge | requests under way now |
//!
//! Only whole disks of hardware count, as `/sys/block/<name>/device` tells: partitions and devices that lie upon others
//! (RAID, encryption, loop) would count twice. Where that cannot be seen, all but known kinds of such devices count.
//! Which disks there are is found out once. The kernel counts times in milliseconds.

use crate::Roots;
use crate::error::{CollectError, ParseError};
use crate::reading::Values;
use crate::source::{Comparable, Differencing, Source};
use crate::text;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;

/// Name of the source.
pub const NAME: &str = "host.disk";
/// Most disks that are read.
const DISKS_MAX: usize = 1_024;
/// A sector of this file, whatever the disk's own are.
const SECTOR_BYTES: u64 = 512;
const MS_NS: u64 = 1_000_000;
/// Devices that lie upon others or in memory, for hosts that do not tell.
const UPON_OTHERS: [&str; 7] = ["loop", "ram", "zram", "dm-", "md", "sr", "nbd"];

/// Column after the name, prony's name, and what one unit of it is.
const COLUMNS: [(usize, &str, u64); 6] = [
    (0, "reads", 1),
    (2, "read_bytes", SECTOR_BYTES),
    (3, "read_ns", MS_NS),
    (4, "writes", 1),
    (6, "written_bytes", SECTOR_BYTES),
    (7, "write_ns", MS_NS),
];
const IN_FLIGHT: usize = 8;
const BUSY_MS: usize = 9;

/// One disk.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Disk {
    counts: [u64; COLUMNS.len()],
    in_flight: u64,
    busy_ns: u64,
}

/// One reading.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Disks(BTreeMap<String, Disk>);

/// Parses `/proc/diskstats`; `wanted` says which devices count.
///
/// # Errors
/// Where a wanted device has too few columns or one that is no number.
pub fn parse(bytes: &[u8], wanted: impl Fn(&str) -> bool) -> Result<Disks, ParseError> {
    let mut disks = BTreeMap::new();
    for line in text::utf8(bytes)?.lines() {
        let mut words = line.split_ascii_whitespace().skip(2);
        let Some(name) = words.next().filter(|name| wanted(name) && disks.len() < DISKS_MAX) else {
            continue;
        };
        disks.insert(name.to_owned(), disk(&words.take(BUSY_MS + 1).collect::<Vec<_>>())?);
    }
    Ok(Disks(disks))
}

fn disk(columns: &[&str]) -> Result<Disk, ParseError> {
    let column = |at: usize, name: &'static str, unit: u64| {
        text::scaled(name, columns.get(at).ok_or(ParseError::Missing(name))?, unit)
    };
    let mut disk = Disk {
        in_flight: column(IN_FLIGHT, "in_flight", 1)?,
        busy_ns: column(BUSY_MS, "busy_ns", MS_NS)?,
        ..Disk::default()
    };
    for (count, (at, name, unit)) in disk.counts.iter_mut().zip(COLUMNS) {
        *count = column(at, name, unit)?;
    }
    Ok(disk)
}

impl Comparable for Disks {
    fn gauges(&self, _: Option<&Self>) -> Values {
        let in_flight = self.0.values().fold(0_u64, |sum, disk| sum.saturating_add(disk.in_flight));
        Values::from([("in_flight".to_owned(), in_flight as f64)])
    }

    fn deltas(&self, previous: &Self) -> Values {
        let mut values = Values::new();
        for (name, now) in &self.0 {
            let Some(before) = previous.0.get(name) else { continue };
            for (((_, name, _), before), now) in COLUMNS.iter().zip(before.counts).zip(now.counts) {
                // A counter of 32 bits that wraps or restarts costs this disk's part of one tick.
                *values.entry((*name).to_owned()).or_default() += now.saturating_sub(before) as f64;
            }
            let busy = now.busy_ns.saturating_sub(before.busy_ns) as f64;
            let longest = values.entry("busy_ns".to_owned()).or_default();
            *longest = longest.max(busy);
        }
        values
    }
}

/// Names of the disks of hardware; nothing where the host does not tell.
fn real_disks(roots: &Roots) -> BTreeSet<String> {
    let entries = fs::read_dir(roots.sys.join("block")).into_iter().flatten().flatten().take(DISKS_MAX);
    let real = entries.filter(|entry| entry.path().join("device").exists());
    real.filter_map(|entry| entry.file_name().into_string().ok()).collect()
}

/// Reads the file under `roots` for the disks of hardware, or for all where there are `none` known.
///
/// # Errors
/// Where it cannot be read or understood.
pub fn read(roots: &Roots, real: &BTreeSet<String>) -> Result<Disks, CollectError> {
    let lies_upon_others = |name: &str| UPON_OTHERS.iter().any(|kind| name.starts_with(kind));
    let wanted = |name: &str| if real.is_empty() { !lies_upon_others(name) } else { real.contains(name) };
    text::read_parsed(&roots.proc.join("diskstats"), |bytes| parse(bytes, wanted))
}

/// The source, where the host has disks.
pub(crate) fn source(roots: &Roots) -> Option<Box<dyn Source>> {
    let (roots, real) = (roots.clone(), real_disks(roots));
    let has_any = read(&roots, &real).is_ok_and(|disks| !disks.0.is_empty());
    let read = move || read(&roots, &real);
    has_any.then(|| -> Box<dyn Source> { Box::new(Differencing::new(NAME, read)) })
}

#[cfg(test)]
mod tests {
    use super::*;

    const FIXTURE: &[u8] = include_bytes!("../fixtures/proc/diskstats");

    #[test]
    fn a_real_file() {
        let disks = parse(FIXTURE, |name| name == "vda").unwrap();
        let vda = disks.0["vda"];
        assert!(vda.counts[0] > 1_000_000 && vda.counts[1] % SECTOR_BYTES == 0 && vda.busy_ns % MS_NS == 0);
        assert!(vda.busy_ns > 0);
        assert_eq!(parse(FIXTURE, |_| true).unwrap().0.len(), 10);
    }

    #[test]
    fn disks_are_added_and_the_busiest_one_tells_the_busy_time() {
        let text = |a: u64, b: u64| {
            format!("8 0 sda {a} 0 {a} {a} 1 0 1 1 2 {a} 9\n8 16 sdb {b} 0 {b} {b} 1 0 1 1 3 {b} 9 1 1 1 1\n")
        };
        let of = |a, b| parse(text(a, b).as_bytes(), |_| true).unwrap();
        let (before, now) = (of(10, 10), of(40, 15));
        let deltas = now.deltas(&before);
        assert_eq!((deltas["reads"], deltas["read_bytes"], deltas["read_ns"]), (35.0, 35.0 * 512.0, 35e6));
        assert_eq!((deltas["busy_ns"], deltas["writes"]), (30e6, 0.0));
        assert_eq!(now.gauges(None)["in_flight"], 5.0);
        assert_eq!(of(5, 15).deltas(&before)["busy_ns"], 5e6, "sda restarted");
        assert!(now.deltas(&Disks::default()).is_empty(), "no disk was there before");
    }

    #[test]
    fn partitions_and_devices_upon_others_do_not_count() {
        let folder = tempfile::tempdir().unwrap();
        let roots = Roots { proc: folder.path().into(), sys: folder.path().into() };
        assert!(source(&roots).is_none());
        let line = |name: &str| format!("8 0 {name} 1 0 1 1 1 0 1 1 0 1 1\n");
        fs::write(folder.path().join("diskstats"), ["sda", "sda1", "dm-0", "loop3"].map(line).concat())
            .unwrap();
        let names = |real: &BTreeSet<String>| read(&roots, real).unwrap().0.into_keys().collect::<Vec<_>>();
        assert_eq!(
            names(&real_disks(&roots)),
            ["sda", "sda1"],
            "without sysfs partitions cannot be distinguished"
        );
        fs::create_dir_all(folder.path().join("block/sda/device")).unwrap();
        fs::create_dir_all(folder.path().join("block/dm-0")).unwrap();
        assert_eq!(names(&real_disks(&roots)), ["sda"]);
        assert!(source(&roots).is_some());
    }

    #[test]
    fn what_is_wrong_is_said() {
        assert!(parse(b"8 0 sda 1 2 3\n", |_| true).is_err());
        assert!(parse(b"8 0 sda x 0 1 1 1 0 1 1 0 1 1\n", |_| true).is_err());
        assert!(parse(b"8 0 sda 1 0 18446744073709551615 1 1 0 1 1 0 1\n", |_| true).is_err());
        assert!(parse(b"8 0 sda 1 2 3\n", |_| false).is_ok());
        assert!(parse(b"\xff", |_| true).is_err());
    }
}
