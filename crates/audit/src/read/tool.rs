//! The outputs of load tools: wrk, wrk2, hey, oha, ab, bombardier, vegeta, k6, siege, h2load and JMeter's summary lines.
//!
//! Each line that is known gives one or more figures; each output is a row, called by its URL or by the heading or
//! command above it. A command above an output, such as `wrk -c100`, gives the settings that the output leaves out.
//! Absent on purpose: the spread of throughput between seconds or threads, and sizes; no rule uses them.

use super::{ROWS_MAX, Table, TextColumn, TextRow, Tool, lines};
use crate::error::Problem;
use crate::kind::Kind;
use regex::{Captures, Regex};
use schema::audit::AuditForm;
use std::sync::LazyLock;

/// What is known of one output.
#[derive(Clone, Debug, Default)]
struct Output {
    line: usize,
    label: String,
    figures: Vec<(Kind, String)>,
    failed: u64,
    counted: u64,
    tool: Option<Tool>,
}

impl Output {
    /// Sets what is not set yet.
    fn set(&mut self, kind: Kind, text: impl Into<String>) {
        if !self.has(kind) {
            self.figures.push((kind, text.into()));
        }
    }

    /// Sets, whatever was set before.
    fn put(&mut self, kind: Kind, text: impl Into<String>) {
        self.figures.retain(|(known, _)| *known != kind);
        self.figures.push((kind, text.into()));
    }

    /// Names it, unless a heading has.
    fn call(&mut self, name: &str) {
        if self.label.is_empty() {
            name.clone_into(&mut self.label);
        }
    }

    fn has(&self, kind: Kind) -> bool {
        self.figures.iter().any(|(known, _)| *known == kind)
    }

    fn failed(&mut self, text: &str) {
        self.failed = self.failed.saturating_add(text.parse().unwrap_or(0));
        self.put(Kind::Errors, self.failed.to_string());
    }

    fn counted(&mut self, text: &str) {
        self.counted = self.counted.saturating_add(text.parse().unwrap_or(0));
        self.put(Kind::Requests, self.counted.to_string());
    }

    fn is_measured(&self) -> bool {
        self.figures.iter().any(|(kind, _)| !kind.is_setting() && *kind != Kind::Duration)
    }
}

/// wrk fills up its histogram for what it takes for omitted (`stats_correct` in its stats.c).
const WRK: Tool = Tool { name: "wrk", is_open: false, has_no_think: true, adds_latencies: true };
const WRK2: Tool = Tool { name: "wrk2", is_open: true, has_no_think: false, adds_latencies: false };
const HEY: Tool = Tool { name: "hey or oha", is_open: false, has_no_think: true, adds_latencies: false };
const AB: Tool = Tool { name: "ab", is_open: false, has_no_think: true, adds_latencies: false };
const BOMBARDIER: Tool =
    Tool { name: "bombardier", is_open: false, has_no_think: true, adds_latencies: false };
const VEGETA: Tool = Tool { name: "vegeta", is_open: true, has_no_think: false, adds_latencies: false };
const K6: Tool = Tool { name: "k6", is_open: false, has_no_think: false, adds_latencies: false };
const SIEGE: Tool = Tool { name: "siege", is_open: false, has_no_think: false, adds_latencies: false };
const H2LOAD: Tool = Tool { name: "h2load", is_open: false, has_no_think: true, adds_latencies: false };
const JMETER: Tool = Tool { name: "JMeter", is_open: false, has_no_think: false, adds_latencies: false };

/// What a known line does.
type Act = fn(&mut Output, &Captures<'_>);

/// A known line: its pattern, whether it begins an output, and what it gives.
struct Known {
    pattern: Regex,
    begins: bool,
    act: Act,
}

static KNOWN: LazyLock<Vec<Known>> = LazyLock::new(|| {
    let known = |begins, pattern, act| Known {
        pattern: Regex::new(pattern).expect("a pattern that is tried by tests"),
        begins,
        act,
    };
    PATTERNS.iter().map(|(begins, pattern, act)| known(*begins, pattern, *act)).collect()
});

const PATTERNS: &[(bool, &str, Act)] = &[
    // wrk and wrk2
    (true, r"^Running (\S+) test @ (\S+)", |o, c| {
        o.set(Kind::Duration, &c[1]);
        o.call(&c[2]);
        o.tool = o.tool.or(Some(WRK));
    }),
    (false, r"^\s*(\d+) threads? and (\d+) connections?", |o, c| {
        o.set(Kind::Threads, &c[1]);
        o.set(Kind::Connections, &c[2]);
    }),
    (false, r"Thread calibration:|HdrHistogram - Recorded Latency", |o, _| o.tool = Some(WRK2)),
    (false, r"^\s*Latency\s+([\d.]+ ?[a-zµμ]+)\s+([\d.]+ ?[a-zµμ]+)\s+([\d.]+ ?[a-zµμ]+)", |o, c| {
        o.set(Kind::Mean, &c[1]);
        o.set(Kind::StdDev, &c[2]);
        o.set(Kind::Max, &c[3]);
    }),
    (false, r"^\s*([\d.]+k?) requests in ([\d.]+[a-z]+)", |o, c| {
        o.set(Kind::Requests, &c[1]);
        o.put(Kind::Duration, &c[2]);
    }),
    (false, r"^\s*Socket errors: connect (\d+), read (\d+), write (\d+), timeout (\d+)", |o, c| {
        (1..=4).for_each(|at| o.failed(&c[at]));
    }),
    (false, r"^\s*Non-2xx(?: or 3xx)? responses:\s+(\d+)", |o, c| o.failed(&c[1])),
    (false, r"^\s*Requests/sec:\s+([\d.]+)", |o, c| o.set(Kind::Throughput, &c[1])),
    // Percentiles of wrk, hey, oha, bombardier and, without a unit, ab.
    (false, r"^\s*(\d{1,3}(?:\.\d+)?)%+\s+(?:in\s+)?([\d.]+) ?([a-zµμ]+)?\b", |o, c| {
        if let Some(kind) = c[1].parse().ok().and_then(Kind::percentile) {
            o.set(kind, format!("{} {}", &c[2], c.get(3).map_or("ms", |unit| unit.as_str())));
        }
    }),
    // hey and oha
    (true, r"^Summary:\s*$", |o, _| o.tool = Some(HEY)),
    (false, r"^\s*Total:\s+([\d.]+) ?(secs?|ms|s|min)\s*$", |o, c| {
        o.set(Kind::Duration, format!("{} {}", &c[1], &c[2]));
    }),
    (false, r"^\s*Slowest:\s+([\d.]+ ?[a-zµμ]+)", |o, c| o.set(Kind::Max, &c[1])),
    (false, r"^\s*Fastest:\s+([\d.]+ ?[a-zµμ]+)", |o, c| o.set(Kind::Min, &c[1])),
    (false, r"^\s*Average:\s+([\d.]+ ?[a-zµμ]+)", |o, c| o.set(Kind::Mean, &c[1])),
    (false, r"^\s*Success rate:\s+([\d.]+) ?(%?)", |o, c| {
        let unit = if c[2].is_empty() { "share" } else { "%" };
        o.set(Kind::SuccessShare, format!("{} {unit}", &c[1]));
    }),
    (false, r"^\s*\[(\d{3})\]\s+(\d+) responses", |o, c| {
        o.counted(&c[2]);
        if !matches!(c[1].as_bytes()[0], b'2' | b'3') {
            o.failed(&c[2]);
        }
    }),
    (false, r"^\s*\[(\d+)\]\s+(?:Get|Post|Put|Delete|Head|Patch) ", |o, c| {
        o.counted(&c[1]);
        o.failed(&c[1]);
    }),
    // ab
    (true, r"^(?:This is ApacheBench|Server Software:)", |o, _| o.tool = Some(AB)),
    (false, r"^Document Path:\s+(\S+)", |o, c| o.call(&c[1])),
    (false, r"^Concurrency Level:\s+(\d+)", |o, c| o.set(Kind::Connections, &c[1])),
    (false, r"^Time taken for tests:\s+([\d.]+) seconds", |o, c| {
        o.set(Kind::Duration, format!("{} s", &c[1]));
    }),
    (false, r"^Complete requests:\s+(\d+)", |o, c| o.set(Kind::Requests, &c[1])),
    (false, r"^Failed requests:\s+(\d+)", |o, c| o.failed(&c[1])),
    (false, r"^Requests per second:\s+([\d.]+)", |o, c| o.set(Kind::Throughput, &c[1])),
    (false, r"^Time per request:\s+([\d.]+) \[ms\] \(mean\)\s*$", |o, c| {
        o.set(Kind::Mean, format!("{} ms", &c[1]));
    }),
    (false, r"^Total:\s+(\d+)\s+(\d+)\s+([\d.]+)\s+(\d+)\s+(\d+)\s*$", |o, c| {
        for (at, kind) in
            [(1, Kind::Min), (2, Kind::Mean), (3, Kind::StdDev), (4, Kind::Quantile(500_000)), (5, Kind::Max)]
        {
            o.set(kind, format!("{} ms", &c[at]));
        }
    }),
    // bombardier
    (true, r"^Bombarding (\S+) .*using (\d+) connection", |o, c| {
        o.call(&c[1]);
        o.set(Kind::Connections, &c[2]);
        o.tool = Some(BOMBARDIER);
    }),
    (false, r"^Bombarding \S+ for (\S+)", |o, c| o.set(Kind::Duration, &c[1])),
    (false, r"^\s*Reqs/sec\s+([\d.]+)\s+[\d.]+\s+[\d.]+", |o, c| o.set(Kind::Throughput, &c[1])),
    (false, r"^\s*1xx - (\d+), 2xx - (\d+), 3xx - (\d+), 4xx - (\d+), 5xx - (\d+)", |o, c| {
        (1..=5).for_each(|at| o.counted(&c[at]));
        (4..=5).for_each(|at| o.failed(&c[at]));
    }),
    (false, r"^\s*others - (\d+)", |o, c| {
        o.counted(&c[1]);
        o.failed(&c[1]);
    }),
    // vegeta
    (true, r"^Requests\s+\[total, rate(?:, throughput)?\]\s+(\d+), ([\d.]+)(?:, ([\d.]+))?", |o, c| {
        o.set(Kind::Requests, &c[1]);
        o.set(Kind::Offered, &c[2]);
        if let Some(throughput) = c.get(3) {
            o.set(Kind::Throughput, throughput.as_str());
        }
        o.tool = Some(VEGETA);
    }),
    (false, r"^Duration\s+\[total, attack, wait\]\s+([^,\s]+),", |o, c| {
        o.set(Kind::Duration, seconds(&c[1]));
    }),
    (false, r"^Latencies\s+\[([^\]]+)\]\s+(.+)$", |o, c| {
        for (name, value) in c[1].split(',').zip(c[2].split(',')) {
            let kind =
                Kind::named(name.trim()).or_else(|| name.trim().parse().ok().and_then(Kind::percentile));
            if let Some(kind) = kind {
                o.set(kind, seconds(value.trim()));
            }
        }
    }),
    (false, r"^Success\s+\[ratio\]\s+([\d.]+) ?%", |o, c| o.set(Kind::SuccessShare, format!("{} %", &c[1]))),
    // k6
    (true, r"^\s*http_req_duration[.\s]*:\s*(.+)$", |o, c| {
        for word in c[1].split_whitespace() {
            let Some((name, value)) = word.split_once('=') else { continue };
            let name = name.replace(['(', ')'], "").replace("avg", "mean").replace("med", "p50");
            if let Some(kind) = Kind::named(&name) {
                o.set(kind, seconds(value));
            }
        }
        o.tool = Some(K6);
    }),
    (false, r"^\s*http_req_failed[.\s]*:\s*([\d.]+)%", |o, c| {
        o.set(Kind::ErrorShare, format!("{} %", &c[1]));
    }),
    (false, r"^\s*http_reqs[.\s]*:\s*(\d+)\s+([\d.]+)/s", |o, c| {
        o.set(Kind::Requests, &c[1]);
        o.set(Kind::Throughput, &c[2]);
    }),
    (false, r"^\s*vus_max[.\s]*:\s*(\d+)", |o, c| o.set(Kind::Connections, &c[1])),
    // siege
    (true, r"^Transactions:\s+(\d+)", |o, c| {
        o.set(Kind::Requests, &c[1]);
        o.tool = Some(SIEGE);
    }),
    (false, r"^Availability:\s+([\d.]+)", |o, c| o.set(Kind::SuccessShare, format!("{} %", &c[1]))),
    (false, r"^Elapsed time:\s+([\d.]+)", |o, c| o.set(Kind::Duration, format!("{} s", &c[1]))),
    (false, r"^Response time:\s+([\d.]+)(?: (secs?|ms))?", |o, c| {
        o.set(Kind::Mean, format!("{} {}", &c[1], c.get(2).map_or("s", |unit| unit.as_str())));
    }),
    (false, r"^Transaction rate:\s+([\d.]+)", |o, c| o.set(Kind::Throughput, &c[1])),
    (false, r"^Failed transactions:\s+(\d+)", |o, c| o.failed(&c[1])),
    (false, r"^Longest transaction:\s+([\d.]+)(?: (secs?|ms))?", |o, c| {
        o.set(Kind::Max, format!("{} {}", &c[1], c.get(2).map_or("s", |unit| unit.as_str())));
    }),
    (false, r"^Shortest transaction:\s+([\d.]+)(?: (secs?|ms))?", |o, c| {
        o.set(Kind::Min, format!("{} {}", &c[1], c.get(2).map_or("s", |unit| unit.as_str())));
    }),
    // h2load
    (true, r"^finished in ([\d.]+[a-z]+), ([\d.]+) req/s", |o, c| {
        o.set(Kind::Duration, &c[1]);
        o.set(Kind::Throughput, &c[2]);
        o.tool = Some(H2LOAD);
    }),
    (false, r"^requests: (\d+) total,.* (\d+) failed, (\d+) errored", |o, c| {
        o.set(Kind::Requests, &c[1]);
        (2..=3).for_each(|at| o.failed(&c[at]));
    }),
    (
        false,
        r"^time for request:\s+([\d.]+[a-z]+)\s+([\d.]+[a-z]+)\s+([\d.]+[a-z]+)\s+([\d.]+[a-z]+)",
        |o, c| {
            for (at, kind) in [(1, Kind::Min), (2, Kind::Max), (3, Kind::Mean), (4, Kind::StdDev)] {
                o.set(kind, &c[at]);
            }
        },
    ),
    // JMeter
    (
        true,
        r"summary\s*[=+]\s*(\d+) in\s+(\S+) =\s*([\d.]+)/s Avg:\s*(\d+) Min:\s*(\d+) Max:\s*(\d+) Err:\s*(\d+)",
        |o, c| {
            o.set(Kind::Requests, &c[1]);
            o.set(Kind::Duration, clock(&c[2]));
            o.set(Kind::Throughput, &c[3]);
            for (at, kind) in [(4, Kind::Mean), (5, Kind::Min), (6, Kind::Max)] {
                o.set(kind, format!("{} ms", &c[at]));
            }
            o.failed(&c[7]);
            o.tool = Some(JMETER);
        },
    ),
];

/// Go's durations such as `1m30.5s` in seconds, so that they are one number; others as they are.
fn seconds(text: &str) -> String {
    let Some((minutes, rest)) =
        text.split_once('m').filter(|(_, rest)| rest.ends_with('s') && rest.len() > 1)
    else {
        return text.to_owned();
    };
    let (hours, minutes) = minutes.split_once('h').unwrap_or(("0", minutes));
    let rest = rest.trim_end_matches('s');
    let decimals = rest.split_once('.').map_or(0, |(_, decimals)| decimals.len().min(9));
    match (hours.parse::<u32>(), minutes.parse::<u32>(), rest.parse::<f64>()) {
        (Ok(hours), Ok(minutes), Ok(rest)) => {
            format!("{:.decimals$} s", f64::from(hours) * 3600.0 + f64::from(minutes) * 60.0 + rest)
        }
        _ => text.to_owned(),
    }
}

/// `00:01:30` in seconds.
fn clock(text: &str) -> String {
    let parts: Option<Vec<f64>> = text.split(':').map(|part| part.parse().ok()).collect();
    match parts.as_deref() {
        Some([h, m, s]) => format!("{} s", h * 3600.0 + m * 60.0 + s),
        _ => text.to_owned(),
    }
}

/// Whether a line of one of the tools is in the text that no table has.
pub(super) fn looks_so(text: &str) -> bool {
    let telling = lines(text).filter(|(_, line)| KNOWN.iter().any(|known| known.pattern.is_match(line)));
    telling.take(3).count() >= 3
        || lines(text).any(|(_, line)| KNOWN.iter().any(|known| known.begins && known.pattern.is_match(line)))
}

/// Reads every output as a row.
pub(super) fn read(text: &str) -> Result<Vec<Table>, Problem> {
    let mut outputs: Vec<Output> = Vec::new();
    let mut open = Output::default();
    for (number, line) in lines(text) {
        if let Some(next) = introduced(line) {
            if open.is_measured() {
                outputs.push(std::mem::take(&mut open));
            }
            open.label = next.label;
            next.figures.into_iter().for_each(|(kind, text)| open.put(kind, text));
            open.tool = next.tool;
            open.line = number;
            continue;
        }
        let mut is_first = true;
        for known in KNOWN.iter() {
            let Some(found) = known.pattern.captures(line) else { continue };
            if known.begins && is_first && open.is_measured() {
                outputs.push(std::mem::take(&mut open));
            }
            if open.line == 0 || (known.begins && is_first && !open.is_measured()) {
                open.line = number;
            }
            is_first = false;
            (known.act)(&mut open, &found);
        }
        if outputs.len() > ROWS_MAX {
            break;
        }
    }
    outputs.extend(open.is_measured().then_some(open));
    table(outputs).map(|table| vec![table])
}

/// A heading, or a command of a known tool with its settings.
fn introduced(line: &str) -> Option<Output> {
    static COMMAND: LazyLock<Regex> = LazyLock::new(|| {
        Regex::new(r"^\s*(?:[$%>#]\s*)?(?:\S*/)?(wrk2?|hey|oha|ab|bombardier|siege|h2load)\s+(.*\S)\s*$")
            .expect("a pattern that is tried by tests")
    });
    static OPTION: LazyLock<Regex> = LazyLock::new(|| {
        Regex::new(r"(?:^|\s)-(c|m|R|q)\s*(\d+k?)\b").expect("a pattern that is tried by tests")
    });
    if let Some(found) =
        COMMAND.captures(line).filter(|found| found[2].contains("://") || found[2].contains(" -"))
    {
        let mut next = Output::default();
        let mut words = found[2].split_whitespace();
        next.label = words.rfind(|word| word.contains("://")).unwrap_or_default().to_owned();
        for option in OPTION.captures_iter(&found[2]) {
            match (&option[1], &found[1]) {
                ("c", _) => next.put(Kind::Connections, &option[2]),
                ("m", "h2load") => next.put(Kind::Pipeline, &option[2]),
                ("R", _) => next.put(Kind::Offered, &option[2]),
                _ => {}
            }
        }
        return Some(next);
    }
    let heading = line.trim().strip_prefix('#').map(|rest| rest.trim_start_matches('#'))?;
    let is_heading = heading.starts_with(' ') && heading.trim().chars().any(char::is_alphabetic);
    is_heading.then(|| Output { label: heading.trim().to_owned(), ..Output::default() })
}

fn table(outputs: Vec<Output>) -> Result<Table, Problem> {
    let Some(first) = outputs.first() else {
        return Err(Problem::new(
            "no output of a load tool is in it: read are wrk, wrk2, hey, oha, ab, bombardier, vegeta, k6, siege, \
             h2load and JMeter's summary lines",
            "paste the whole output, or say another --input-format",
        ));
    };
    let mut kinds: Vec<Kind> = outputs.iter().flat_map(|o| o.figures.iter().map(|(kind, _)| *kind)).collect();
    kinds.sort_unstable();
    kinds.dedup();
    let (line, tool) = (first.line, first.tool);
    // One tool a table: a mixed paste is judged as if nothing were known of it.
    let tool = tool.filter(|tool| outputs.iter().all(|output| output.tool == Some(*tool)));
    let label = TextColumn::known("output", Kind::Label);
    let named = kinds.iter().map(|kind| TextColumn::known(kind.name(), *kind));
    let columns = std::iter::once(label).chain(named).collect();
    let row = |output: &Output| {
        let cell = |kind: &Kind| {
            output
                .figures
                .iter()
                .find(|(known, _)| known == kind)
                .map_or(String::new(), |(_, text)| text.clone())
        };
        let cells = std::iter::once(output.label.clone()).chain(kinds.iter().map(cell)).collect();
        TextRow { line: output.line, cells }
    };
    let rows = outputs.iter().map(row).collect();
    Ok(Table { form: AuditForm::ToolOutput, line, columns, rows, tool, notes: Vec::new() })
}
