//! No sound table is called impossible: tables of simulated systems, printed as people print, in many seeded variants.

use crate::audited;
use crate::simulate::{Seen, System};
use units::{Rng, Seed};

/// Seed of all variants.
const SEED: u64 = 20_261_121;

/// How one table is printed.
#[derive(Clone, Copy, Debug)]
struct Print {
    form: u64,
    /// Unit of times: header and factor from seconds; `None` puts a fitting unit into every cell.
    time: Option<(&'static str, f64)>,
    /// Significant digits of times, or decimals.
    digits: u64,
    decimals: bool,
    /// Cut off instead of rounded.
    cut: bool,
    chinese: bool,
    thousands: bool,
    kilo: bool,
    columns: u64,
    interpolated: bool,
}

impl Print {
    fn drawn(rng: &mut Rng) -> Self {
        let times = [None, Some(("ms", 1e3)), Some(("ms", 1e3)), Some(("us", 1e6)), Some(("s", 1.0))];
        let mut coin = || rng.below(2) == 0;
        let (decimals, chinese, thousands, interpolated) = (coin(), coin(), coin(), coin());
        let kilo = rng.below(5) == 0;
        Self {
            form: rng.below(4),
            time: times[rng.below(5) as usize],
            digits: 1 + rng.below(4),
            decimals,
            cut: rng.below(4) == 0,
            chinese,
            thousands,
            kilo,
            columns: rng.next_u64(),
            interpolated,
        }
    }

    fn number(self, value: f64) -> String {
        let digits = self.digits as i32;
        if self.decimals {
            let decimals = (digits - 1) as usize;
            let scale = 10_f64.powi(digits - 1);
            let value = if self.cut { (value * scale).floor() / scale } else { value };
            return format!("{value:.decimals$}");
        }
        let magnitude = if value > 0.0 { value.log10().floor() as i32 } else { 0 };
        // Two significant digits at least, as people print.
        let places = digits.max(2) - 1 - magnitude;
        let scale = 10_f64.powi(places);
        let rounded = (value * scale).round() / scale;
        format!("{rounded:.*}", places.max(0) as usize)
    }

    fn time(self, seconds: f64) -> String {
        match self.time {
            Some((_, factor)) => self.number(seconds * factor),
            None => {
                let (factor, unit) = match seconds {
                    s if s < 1e-3 => (1e6, "us"),
                    s if s < 1.0 => (1e3, "ms"),
                    _ => (1.0, "s"),
                };
                format!("{:.2}{unit}", seconds * factor)
            }
        }
    }

    fn rate(self, per_s: f64) -> String {
        if self.kilo && per_s >= 1000.0 {
            return format!("{:.1}k", per_s / 1000.0);
        }
        let text = if self.decimals { format!("{per_s:.2}") } else { format!("{per_s:.0}") };
        if self.thousands { grouped(&text) } else { text }
    }
}

fn grouped(number: &str) -> String {
    let (whole, rest) = number.split_once('.').map_or((number, String::new()), |(w, r)| (w, format!(".{r}")));
    let mut text = String::new();
    for (at, digit) in whole.char_indices() {
        if at > 0 && (whole.len() - at).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text + &rest
}

/// One column: its header in English and Chinese, and its cells.
type Column = (String, Vec<String>);

fn columns(print: Print, systems: &[System], seen: &[Seen], states_think: bool) -> Vec<Column> {
    let unit = print.time.map_or(String::new(), |(unit, _)| format!(" ({unit})"));
    let name =
        |english: &str, chinese: &str| if print.chinese { chinese.to_owned() } else { english.to_owned() };
    let cells = |f: &dyn Fn(&Seen) -> String| seen.iter().map(f).collect::<Vec<_>>();
    let time = |f: &dyn Fn(&Seen) -> f64| seen.iter().map(|seen| print.time(f(seen))).collect::<Vec<_>>();
    let mut all: Vec<Column> = vec![
        (name("connections", "并发数"), systems.iter().map(|system| system.customers.to_string()).collect()),
        (name("req/s", "QPS"), cells(&|seen| print.rate(seen.throughput()))),
        (name("mean", "平均响应时间") + &unit, time(&Seen::mean)),
        (name("p50", "中位数") + &unit, time(&|seen| seen.quantile(0.5, print.interpolated))),
        (name("p90", "90分位") + &unit, time(&|seen| seen.quantile(0.9, print.interpolated))),
        (name("p95", "P95") + &unit, time(&|seen| seen.quantile(0.95, print.interpolated))),
        (name("p99", "P99延迟") + &unit, time(&|seen| seen.quantile(0.99, print.interpolated))),
        (name("p99.9", "P999") + &unit, time(&|seen| seen.quantile(0.999, print.interpolated))),
        (name("min", "最小") + &unit, time(&|seen| seen.responses_s[0])),
        (name("max", "最大") + &unit, time(&|seen| seen.responses_s[seen.responses_s.len() - 1])),
        (name("stdev", "标准差") + &unit, time(&Seen::deviation)),
        (name("duration (s)", "持续时间(秒)"), cells(&|seen| format!("{:.2}", seen.duration_s))),
        (name("requests", "总请求数"), cells(&|seen| seen.responses_s.len().to_string())),
        (name("errors", "错误数"), cells(&|_| "0".to_owned())),
        (name("CPU %", "CPU使用率(%)"), cells(&|seen| format!("{:.0}", seen.busy * 100.0))),
        (name("cores", "CPU核数"), systems.iter().map(|system| system.servers.to_string()).collect()),
    ];
    // Any columns may be missing.
    let mut at = 0;
    all.retain(|_| {
        at += 1;
        at <= 2 || (print.columns >> at) & 3 != 0
    });
    if states_think {
        let think = systems.iter().map(|system| format!("{:.4}", system.think_s)).collect();
        all.push((name("think time (s)", "思考时间(s)"), think));
    }
    all
}

fn written(print: Print, columns: &[Column]) -> String {
    let rows = columns[0].1.len();
    let line = |cells: Vec<&str>| match print.form {
        0 => cells.iter().map(|cell| format!("\"{cell}\"")).collect::<Vec<_>>().join(","),
        1 => cells.join("\t"),
        2 => format!("| {} |", cells.join(" | ")),
        _ => cells.iter().map(|cell| format!("{cell:<24}")).collect::<Vec<_>>().join("  "),
    };
    let header = line(columns.iter().map(|(name, _)| name.as_str()).collect());
    let rule = if print.form == 2 { format!("\n|{}", "---|".repeat(columns.len())) } else { String::new() };
    let body: String = (0..rows)
        .map(|row| line(columns.iter().map(|(_, cells)| cells[row].as_str()).collect()) + "\n")
        .collect();
    format!("{header}{rule}\n{body}")
}

fn variant(index: u64) -> (String, Vec<System>) {
    let mut rng = Seed(SEED).derive("sound", index).rng();
    let servers = 1 + rng.below(4) as usize;
    let service_s = 10_f64.powf(-4.5 + 3.0 * rng.unit());
    let think_s = if rng.below(3) == 0 { service_s * (1.0 + 50.0 * rng.unit()) } else { 0.0 };
    let skipped = if rng.below(2) == 0 { 0 } else { 500 };
    let mut customers = 1 + rng.below(4) as usize;
    let (mut systems, mut seen) = (Vec::new(), Vec::new());
    for _ in 0..2 + rng.below(4) {
        let system = System { customers, servers, service_s, think_s };
        let requests = 1500 + rng.below(1500) as usize;
        seen.push(system.run(&mut rng, skipped, requests));
        systems.push(system);
        customers = (customers * (2 + rng.below(3) as usize)).min(200);
    }
    let states_think = think_s > 0.0 && rng.below(2) == 0;
    let print = Print::drawn(&mut rng);
    (written(print, &columns(print, &systems, &seen, states_think)), systems)
}

fn none_is_impossible(variants: std::ops::Range<u64>) {
    for index in variants {
        let (text, systems) = variant(index);
        let impossible = audited(&text).impossible();
        assert!(impossible.is_empty(), "variant {index}: {systems:?}\n{text}\n{}", impossible.join("\n"));
    }
}

#[test]
fn simulated_tables_are_never_impossible() {
    none_is_impossible(0..600);
}

#[test]
#[ignore = "20,000 variants take minutes"]
fn simulated_tables_are_never_impossible_in_full() {
    none_is_impossible(600..20_600);
}

#[test]
fn most_of_a_sound_table_is_understood() {
    for index in 0..100 {
        let (text, systems) = variant(index);
        let report = audited(&text).0;
        assert_eq!(report.counts.rows, systems.len() as u64, "{text}");
        let unread = report.tables[0].columns.iter().filter(|column| {
            matches!(column.meaning, schema::audit::Meaning::Ignored | schema::audit::Meaning::Label)
        });
        assert_eq!(unread.count(), 0, "variant {index}\n{text}\n{:?}", report.tables[0].columns);
    }
}
