//! The parsers of counters: kernel files, answers of netlink and of targets. No bytes make one panic, and what is
//! understood is a number.
//!
//! Layout of the input: one byte that chooses the parser, counted from `0` in ASCII; then the bytes as a file or an
//! answer would have them. One parser for each input, because 27 made it 27 times slower and most of them refuse at
//! the first byte. The first half stands for an earlier reading, so that differences are tried, too.

use crate::Broken;
use collect::cgroup::{self, find};
use collect::reading::{Reading, Values};
use collect::runtimes::{fpm, hsperfdata, jvm, nginx, node, opcache, php, prometheus, swoole};
use collect::{Comparable, ParseError, process, sock_diag};
use collect::{go_runtime, host_clock, host_cpus, host_disk, host_interrupts, host_load, host_memory};
use collect::{host_net, host_pressure, host_stat, target_connections, target_listen};
use collect::{local_ports, tcp_netstat, tcp_snmp, tcp_sockstat, tcp_states};

/// Runs one parser, or a few of one source, and gives what came of it.
type Parser = fn(&[u8]) -> Values;

/// Every pure parser of the crate collect, by the name of its source.
const PARSERS: [(&str, Parser); 28] = [
    (host_stat::NAME, |bytes| compared(bytes, |bytes| host_stat::parse(bytes, 10_000_000))),
    (host_load::NAME, |bytes| compared(bytes, |bytes| host_load::parse(bytes, Some(bytes)))),
    (host_load::NAME, |bytes| compared(bytes, |bytes| host_load::parse(bytes, None))),
    (host_cpus::NAME, |bytes| compared(bytes, host_cpus::parse)),
    (host_memory::NAME, |bytes| {
        let with = |parse: fn(&[u8], &mut Reading) -> Result<(), ParseError>| {
            compared(bytes, |bytes| filled(|reading| parse(bytes, reading)))
        };
        joined([with(host_memory::parse_meminfo), with(host_memory::parse_vmstat)])
    }),
    (host_pressure::NAME, |bytes| {
        joined(["cpu", "memory", "io", "other"].map(|resource| {
            compared(bytes, |bytes| filled(|reading| host_pressure::parse(resource, bytes, reading)))
        }))
    }),
    (host_interrupts::NAME, |bytes| {
        compared(bytes, |bytes| {
            let (hard, soft) = (host_interrupts::parse_hard(bytes), host_interrupts::parse_soft(bytes));
            let none = hard.is_err() && soft.is_err();
            let both = host_interrupts::Interrupts {
                hard: hard.unwrap_or_default(),
                soft: soft.unwrap_or_default(),
            };
            if none { Err(ParseError::NotText) } else { Ok(both) }
        })
    }),
    (host_net::NAME, |bytes| compared(bytes, host_net::parse)),
    (host_disk::NAME, |bytes| compared(bytes, |bytes| host_disk::parse(bytes, |_| true))),
    (host_clock::NAME, |bytes| {
        let numbers: Vec<i64> = bytes.split(|byte| *byte == b'\n').filter_map(host_clock::parse).collect();
        compared(bytes, |_| Ok(host_clock::reading(&numbers, &numbers, &numbers)))
    }),
    (tcp_netstat::NAME, |bytes| compared(bytes, tcp_netstat::parse)),
    (tcp_snmp::NAME, |bytes| compared(bytes, tcp_snmp::parse)),
    (tcp_sockstat::NAME, |bytes| compared(bytes, tcp_sockstat::parse)),
    (tcp_states::NAME, |bytes| {
        let ports = local_ports::parse_ports(bytes).ok().map(|ports| ("ports".to_owned(), f64::from(ports)));
        ports.into_iter().collect()
    }),
    (target_connections::NAME, |bytes| {
        compared(bytes, |bytes| {
            let sockets = sockets(bytes);
            let peer = sockets.first().map_or(([127, 0, 0, 1], 80).into(), |socket| socket.remote);
            Ok(target_connections::Connections::to(peer, &sockets, false))
        })
    }),
    (target_listen::NAME, |bytes| {
        let sockets = sockets(bytes);
        joined([
            compared(bytes, |_| target_listen::reading(&sockets)),
            compared(bytes, |_| Ok(tcp_states::counted(&sockets))),
        ])
    }),
    (process::TARGET, |bytes| {
        let _ = process::parse::stat(bytes);
        let _ = process::parse::name(bytes);
        let _ = process::parse::schedstat(bytes);
        let _ = process::parse::status(bytes);
        let _ = process::parse::children(bytes);
        let numbers = [process::parse::limit_of_files(bytes), process::parse::pss_bytes(bytes).ok()];
        numbers.into_iter().flatten().map(|number| ("number".to_owned(), number as f64)).collect()
    }),
    (cgroup::TARGET, |bytes| {
        let with = |parse: fn(&[u8], &mut Reading) -> Result<(), ParseError>| {
            compared(bytes, |bytes| filled(|reading| parse(bytes, reading)))
        };
        let quota = cgroup::parse_quota(bytes).map(|cpus| ("cpus".to_owned(), cpus));
        let all = [cgroup::parse_cpu, cgroup::parse_events, cgroup::parse_io, cgroup::parse_blkio].map(with);
        joined(all.into_iter().chain([quota.into_iter().collect()]))
    }),
    (cgroup::GENERATOR, |bytes| {
        let groups = find::parse_memberships(bytes).unwrap_or_default();
        let mounts = find::parse_mounts(bytes).unwrap_or_default();
        let _ = find::folders(&groups, &mounts);
        Values::new()
    }),
    (go_runtime::NAME, |bytes| {
        let (now, before) = (go_runtime::parse(bytes), go_runtime::parse(&bytes[..bytes.len() / 2]));
        let deltas = |now: &go_runtime::GoReading| {
            joined([go_runtime::delta(now, now), go_runtime::delta(&before.clone().unwrap_or_default(), now)])
        };
        now.as_ref().map(deltas).unwrap_or_default()
    }),
    ("php.fpm", |bytes| compared(bytes, fpm::parse)),
    ("php.opcache", |bytes| compared(bytes, opcache::parse)),
    ("php.runtime", |bytes| compared(bytes, php::parse)),
    ("swoole.server", |bytes| compared(bytes, swoole::parse)),
    ("nginx.status", |bytes| compared(bytes, nginx::parse)),
    ("node.runtime", |bytes| {
        let _ = node::parse(bytes);
        Values::new()
    }),
    ("jvm.runtime", |bytes| {
        compared(bytes, |bytes| hsperfdata::parse(bytes).map(|data| jvm::jvm_reading(&data)))
    }),
    ("target.prometheus", |bytes| {
        let _ = prometheus::parse(bytes, &["*".to_owned(), "http_*_total".to_owned()]);
        Values::new()
    }),
];

/// The choice of the first parser.
const FIRST: u8 = b'0';

/// Runs every parser on these bytes.
pub fn counters(data: &[u8]) {
    for (_, parser) in PARSERS {
        parser(data);
    }
}

/// The property of the target `counters`.
///
/// # Errors
/// A value that is no finite number.
pub fn check(input: &[u8]) -> Result<(), Broken> {
    check_with(input, &PARSERS)
}

/// [`check`] of any parsers.
///
/// # Errors
/// As [`check`].
pub fn check_with(input: &[u8], parsers: &[(&str, Parser)]) -> Result<(), Broken> {
    let (choice, bytes) = input.split_first().map_or((FIRST, input), |(choice, bytes)| (*choice, bytes));
    // New parsers go to the end of the list, so that kept inputs keep theirs.
    let (source, parser) = parsers[usize::from(choice.wrapping_sub(FIRST)) % parsers.len()];
    let found = parser(bytes);
    let wrong = found.iter().find(|(_, value)| !value.is_finite());
    Broken::unless(wrong.is_none(), || format!("{source}: no finite number: {wrong:?}"))
}

/// What a reading shows alone, beside itself and beside that of the first half of the bytes.
fn compared<T: Comparable>(bytes: &[u8], parse: impl Fn(&[u8]) -> Result<T, ParseError>) -> Values {
    let (Ok(now), before) = (parse(bytes), parse(&bytes[..bytes.len() / 2])) else { return Values::new() };
    let both = before.iter().flat_map(|before| {
        [now.gauges(Some(before)), now.deltas(before), before.gauges(Some(&now)), before.deltas(&now)]
    });
    joined([now.gauges(None), now.gauges(Some(&now)), now.deltas(&now)].into_iter().chain(both))
}

fn filled(fill: impl FnOnce(&mut Reading) -> Result<(), ParseError>) -> Result<Reading, ParseError> {
    let mut reading = Reading::default();
    fill(&mut reading).map(|()| reading)
}

fn sockets(bytes: &[u8]) -> Vec<sock_diag::TcpSocket> {
    let mut sockets = Vec::new();
    // What came before a broken message counts.
    let _ = sock_diag::parse(bytes, &mut sockets);
    sockets
}

/// All values, each under a name of its own, so that none hides another.
fn joined(parts: impl IntoIterator<Item = Values>) -> Values {
    let all = parts.into_iter().enumerate();
    all.flat_map(|(at, part)| part.into_iter().map(move |(name, value)| (format!("{at}.{name}"), value)))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Without its prefixes.
    fn has(values: &Values, name: &str) -> bool {
        values.keys().any(|key| key.rsplit('.').next() == Some(name))
    }

    #[test]
    fn every_parser_understands_its_own_file() {
        let found = |source: &str, bytes: &[u8]| {
            let parsers = PARSERS.iter().filter(|(name, _)| *name == source);
            joined(parsers.map(|(_, parser)| parser(bytes)))
        };
        assert!(has(&found(host_cpus::NAME, b"cpu0 1 2 3 4\ncpu0 9 9 9 9\n"), "busiest_percent"));
        let dev = b" lo: 1 1 0 0 0 0 0 0 1 1 0 0 0 0 0 0\n lo: 3 1 0 0 0 0 0 0 1 1 0 0 0 0 0 0\n";
        assert!(has(&found(host_net::NAME, dev), "lo_rx_bytes"));
        assert!(has(&found(cgroup::TARGET, b"nr_periods 4\nnr_periods 5\n"), "periods"));
        assert!(has(&found(host_clock::NAME, b"1000\n"), "frequency_mean_hz"));
        assert!(has(&found(tcp_states::NAME, b"1 9"), "ports"));
    }

    #[test]
    fn kept_files_choose_parsers_that_understand_them() {
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../fuzz/corpus/counters");
        let mut understood = std::collections::BTreeSet::new();
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            let input = std::fs::read(&path).unwrap();
            let (source, parser) = PARSERS[usize::from(input[0] - FIRST)];
            // Once also through all others.
            counters(&input[1..]);
            // Some sources give a value only beside an earlier reading, or none that stands here.
            if !parser(&input[1..]).is_empty() {
                understood.insert(source);
            }
        }
        assert!(understood.len() >= 10, "{understood:?}");
    }

    #[test]
    fn values_that_are_no_numbers_are_caught() {
        assert_eq!(check(b""), Ok(()));
        counters(b"\xff\x00");
        let broken: [(&str, Parser); 1] = [("broken", |_| Values::from([("share".to_owned(), f64::NAN)]))];
        assert!(check_with(b"", &broken).unwrap_err().to_string().contains("broken: no finite number"));
    }
}
