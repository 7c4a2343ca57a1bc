//! Units as people write them, English and Chinese, and what they are worth.
//!
//! Base units: seconds, events per second, shares from 0 to 1, cores, and plain counts.

use crate::number::narrow;

/// What a figure measures.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Dimension {
    /// Seconds.
    Time,
    /// Events per second.
    Rate,
    /// From 0 to 1.
    Share,
    /// A plain count.
    Count,
    /// Busy cores.
    Cpu,
}

impl Dimension {
    /// The base unit, as reports name it.
    pub(crate) const fn unit(self) -> &'static str {
        match self {
            Self::Time => "s",
            Self::Rate => "1/s",
            Self::Share => "share",
            Self::Count => "",
            Self::Cpu => "cores",
        }
    }

    /// The value of one `unit` in the base unit; `None` where it is no unit of this dimension.
    pub(crate) fn factor(self, unit: &str) -> Option<f64> {
        let unit = plain(unit);
        match self {
            Self::Time => time(&unit),
            Self::Rate => rate(&unit),
            Self::Share => share(&unit),
            Self::Count => count(&unit),
            Self::Cpu => cpu(&unit),
        }
    }
}

/// Lower case, without spaces and dots at the end.
fn plain(unit: &str) -> String {
    let unit = narrow(unit).to_lowercase();
    let unit: String = unit.chars().filter(|c| !c.is_whitespace() && *c != '#').collect();
    unit.trim_end_matches(['.', ';']).to_owned()
}

fn time(unit: &str) -> Option<f64> {
    Some(match unit {
        "ns" | "nsec" | "nanos" | "nanoseconds" | "纳秒" => 1e-9,
        "us" | "µs" | "usec" | "usecs" | "micros" | "microseconds" | "微秒" => 1e-6,
        "ms" | "msec" | "msecs" | "millis" | "millisecond" | "milliseconds" | "毫秒" => 1e-3,
        "s" | "sec" | "secs" | "second" | "seconds" | "秒" | "秒钟" => 1.0,
        "m" | "min" | "mins" | "minute" | "minutes" | "分" | "分钟" => 60.0,
        "h" | "hr" | "hrs" | "hour" | "hours" | "小时" => 3600.0,
        _ => return None,
    })
}

fn share(unit: &str) -> Option<f64> {
    Some(match unit {
        "%" | "percent" | "pct" | "百分比" => 0.01,
        "‰" | "permille" => 0.001,
        "share" | "ratio" | "fraction" => 1.0,
        _ => return None,
    })
}

fn cpu(unit: &str) -> Option<f64> {
    Some(match unit {
        "%" | "percent" | "pct" => 0.01,
        "core" | "cores" | "cpu" | "cpus" | "vcpu" | "核" | "c" => 1.0,
        "m" | "millicores" | "mcpu" => 0.001,
        _ => return None,
    })
}

fn multiplier(unit: &str) -> Option<f64> {
    Some(match unit {
        "" => 1.0,
        "百" => 100.0,
        "k" | "千" | "thousand" => 1e3,
        "w" | "万" | "萬" => 1e4,
        "m" | "mil" | "mio" | "million" | "百万" => 1e6,
        "亿" => 1e8,
        "g" | "bn" | "billion" => 1e9,
        _ => return None,
    })
}

const RATE_NOUNS: [&str; 34] = [
    "transactions",
    "transaction",
    "iterations",
    "responses",
    "requests",
    "messages",
    "queries",
    "request",
    "answers",
    "trans",
    "query",
    "calls",
    "reqs",
    "txns",
    "hits",
    "call",
    "msgs",
    "req",
    "txn",
    "ops",
    "its",
    "msg",
    "hit",
    "tx",
    "op",
    "it",
    "r",
    "q",
    "t",
    "请求",
    "次",
    "个",
    "笔",
    "条",
];

fn rate(unit: &str) -> Option<f64> {
    const WHOLE: [(&str, f64); 9] = [
        ("rps", 1.0),
        ("qps", 1.0),
        ("tps", 1.0),
        ("ops", 1.0),
        ("cps", 1.0),
        ("rpm", 1.0 / 60.0),
        ("qpm", 1.0 / 60.0),
        ("tpm", 1.0 / 60.0),
        ("pps", 1.0),
    ];
    const PER: [(&str, f64); 14] = [
        ("/second", 1.0),
        ("/minute", 1.0 / 60.0),
        ("/min", 1.0 / 60.0),
        ("/sec", 1.0),
        ("/hour", 1.0 / 3600.0),
        ("/秒", 1.0),
        ("每秒", 1.0),
        ("/分钟", 1.0 / 60.0),
        ("persecond", 1.0),
        ("persec", 1.0),
        ("perminute", 1.0 / 60.0),
        ("/s", 1.0),
        ("/m", 1.0 / 60.0),
        ("/h", 1.0 / 3600.0),
    ];
    if let Some((rest, factor)) = WHOLE.iter().find_map(|(name, f)| Some((unit.strip_suffix(name)?, f))) {
        return Some(multiplier(rest)? * factor);
    }
    let (rest, factor) =
        PER.iter().find_map(|(name, f)| Some((unit.strip_suffix(name)?, *f))).unwrap_or((unit, 1.0));
    let rest = rest.strip_prefix("每秒").unwrap_or(rest);
    if let Some(times) = multiplier(rest) {
        return Some(times * factor);
    }
    let noun = RATE_NOUNS.iter().find_map(|noun| rest.strip_suffix(noun))?;
    Some(multiplier(noun)? * factor)
}

/// A count may have any noun, as long as it is no other unit.
fn count(unit: &str) -> Option<f64> {
    if let Some(times) = multiplier(unit) {
        return Some(times);
    }
    if is_bytes(unit) || share(unit).is_some() || time(unit).is_some() || unit.contains('/') {
        return None;
    }
    let is_noun = unit.chars().count() <= 20 && unit.chars().all(|c| c.is_alphabetic() || c == '-');
    let times = ["k", "w", "万", "百万", "亿"]
        .iter()
        .find(|times| {
            unit.strip_prefix(**times).is_some_and(|rest| RATE_NOUNS.contains(&rest) || rest == "users")
        })
        .and_then(|times| multiplier(times));
    is_noun.then(|| times.unwrap_or(1.0))
}

/// Whether a unit is one of sizes or of their rate.
pub(crate) fn is_bytes(unit: &str) -> bool {
    let unit = plain(unit);
    let unit = ["/second", "/sec", "/s", "ps"].iter().find_map(|per| unit.strip_suffix(per)).unwrap_or(&unit);
    let Some(rest) = unit.strip_prefix(['k', 'm', 'g', 't']) else {
        return matches!(unit, "b" | "byte" | "bytes" | "bit" | "bits");
    };
    matches!(rest, "b" | "ib" | "byte" | "bytes" | "bit" | "bits")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(dimension: Dimension, table: &[(&str, Option<f64>)]) {
        for (unit, factor) in table {
            let found = dimension.factor(unit);
            let same = match (found, *factor) {
                (Some(a), Some(b)) => (a / b - 1.0).abs() < 1e-12,
                (a, b) => a == b,
            };
            assert!(same, "{unit}: {found:?}, not {factor:?}");
        }
    }

    #[test]
    fn units_of_every_dimension() {
        let no = None;
        check(
            Dimension::Time,
            &[
                ("ms", Some(1e-3)),
                ("μs", Some(1e-6)),
                ("us", Some(1e-6)),
                ("m", Some(60.0)),
                ("Secs", Some(1.0)),
                ("毫秒", Some(1e-3)),
                ("k", no),
                ("", no),
            ],
        );
        check(
            Dimension::Rate,
            &[
                ("", Some(1.0)),
                ("/s", Some(1.0)),
                ("k", Some(1e3)),
                ("req/s", Some(1.0)),
                ("k req/s", Some(1e3)),
                ("kQPS", Some(1e3)),
                ("万", Some(1e4)),
                ("w", Some(1e4)),
                ("万次/秒", Some(1e4)),
                ("M", Some(1e6)),
                ("requests/min", Some(1.0 / 60.0)),
                ("rpm", Some(1.0 / 60.0)),
                ("#/sec", Some(1.0)),
                ("MB/s", no),
                ("ms", no),
            ],
        );
        check(Dimension::Share, &[("%", Some(0.01)), ("‰", Some(0.001)), ("", no), ("ms", no)]);
        check(Dimension::Cpu, &[("%", Some(0.01)), ("核", Some(1.0)), ("m", Some(0.001)), ("MB", no)]);
        check(
            Dimension::Count,
            &[
                ("", Some(1.0)),
                ("k", Some(1e3)),
                ("并发", Some(1.0)),
                ("users", Some(1.0)),
                ("万", Some(1e4)),
                ("MB", no),
                ("%", no),
                ("/s", no),
                ("ms", no),
            ],
        );
        assert!(is_bytes("MB/s") && is_bytes("KiB") && is_bytes("Mbps") && !is_bytes("ms") && !is_bytes("m"));
    }
}
