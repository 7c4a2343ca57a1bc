//! From rows to medians, paired ratios and targets. Pure arithmetic; nothing here is printed or read.
//!
//! Columns of one peer are medians over its valid runs. A ratio of two peers is made inside each repeat, where both met
//! the same moment of the machine, and summed up on logarithms: the geometric mean with Student's 95 % interval
//! (METHOD §3). Fewer than five pairs give no interval. A repeat in which either run is void gives no pair.

use crate::row::Row;
use analyze::stats::Refusal;
use analyze::stats::order::median;
use analyze::stats::student::MeanTest;

/// Fewest pairs that give an interval (METHOD §3).
pub(crate) const PAIRS_MIN: usize = 5;
/// Coverage of intervals.
const LEVEL: f64 = 0.95;

/// One peer in one case.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Line {
    /// Name of the peer.
    pub(crate) peer: String,
    /// Connections of the case.
    pub(crate) connections: u32,
    /// Runs that count.
    pub(crate) valid: usize,
    /// Runs that do not.
    pub(crate) void: usize,
    /// Median answers per second.
    pub(crate) requests_per_s: Option<f64>,
    /// Median CPU time.
    pub(crate) cpu_us_per_request: Option<f64>,
    /// Median peak.
    pub(crate) peak_rss_bytes: Option<f64>,
    /// Median share of a CPU.
    pub(crate) generator_busy_share: Option<f64>,
    /// Median share of a CPU.
    pub(crate) server_busy_share: Option<f64>,
}

/// How many times as much one peer has of something as another.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Ratio {
    /// Repeats in which both runs count.
    pub(crate) pairs: usize,
    /// Geometric mean of the ratios.
    pub(crate) mean: f64,
    /// Median of the ratios.
    pub(crate) median: f64,
    /// 95 % interval of the geometric mean, or why there is none.
    pub(crate) interval: Result<(f64, f64), Refusal>,
}

/// What is compared: a positive number of a valid row.
pub(crate) type Value = fn(&Row) -> Option<f64>;

/// CPU time per request.
pub(crate) const CPU: Value = |row| row.cpu_us_per_request;
/// Answers per second.
pub(crate) const RATE: Value = |row| row.requests_per_s;

/// A goal for CPU time per request.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Target {
    /// Who has to reach it.
    pub(crate) peer: &'static str,
    /// Against whom.
    pub(crate) versus: &'static str,
    /// Highest ratio that meets it.
    pub(crate) ratio_max: f64,
}

/// Whether a target is met in one case.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Verdict {
    /// The target.
    pub(crate) target: Target,
    /// Connections of the case.
    pub(crate) connections: u32,
    /// What was measured; absent without a valid pair.
    pub(crate) ratio: Option<Ratio>,
}

/// How a ratio stands to its target.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Standing {
    /// At most the target.
    Met,
    /// Above it by this much.
    MissedBy(f64),
    /// Nothing to tell from.
    Unknown,
}

impl Verdict {
    /// By the geometric mean.
    pub(crate) fn standing(&self) -> Standing {
        match self.ratio {
            None => Standing::Unknown,
            Some(ratio) if ratio.mean <= self.target.ratio_max => Standing::Met,
            Some(ratio) => Standing::MissedBy(ratio.mean - self.target.ratio_max),
        }
    }

    /// Whether the interval lies wholly on one side of the target.
    pub(crate) fn is_certain(&self) -> bool {
        let limit = self.target.ratio_max;
        self.ratio
            .and_then(|ratio| ratio.interval.ok())
            .is_some_and(|(low, high)| high <= limit || low > limit)
    }
}

/// One line for each case and peer, in the order of `cases` and of `peers`.
pub(crate) fn lines(rows: &[Row], cases: &[u32], peers: &[&str]) -> Vec<Line> {
    let pairs = cases.iter().flat_map(|case| peers.iter().map(move |peer| (*case, *peer)));
    pairs.map(|(connections, peer)| line(rows, connections, peer)).collect()
}

fn line(rows: &[Row], connections: u32, peer: &str) -> Line {
    let mine = || rows.iter().filter(move |row| row.peer == peer && row.connections == connections);
    let middle =
        |value: Value| median(&mine().filter(|row| row.is_valid()).filter_map(value).collect::<Vec<_>>());
    Line {
        peer: peer.to_owned(),
        connections,
        valid: mine().filter(|row| row.is_valid()).count(),
        void: mine().filter(|row| !row.is_valid()).count(),
        requests_per_s: middle(RATE),
        cpu_us_per_request: middle(CPU),
        peak_rss_bytes: middle(|row| row.peak_rss_bytes.map(|bytes| bytes as f64)),
        generator_busy_share: middle(|row| Some(row.generator_busy_share)),
        server_busy_share: middle(|row| row.server_busy_share),
    }
}

/// `peer` over `versus` in the case with `connections`; absent without a pair.
pub(crate) fn ratio(rows: &[Row], connections: u32, peer: &str, versus: &str, value: Value) -> Option<Ratio> {
    let of = |peer: &str, repeat: u32| {
        let mut mine = rows.iter().filter(|row| {
            row.is_valid() && row.peer == peer && row.connections == connections && row.repeat == repeat
        });
        mine.next().and_then(value).filter(|number| number.is_finite() && *number > 0.0)
    };
    let repeats = rows.iter().map(|row| row.repeat).max().map_or(0, |last| last + 1);
    let logs: Vec<f64> = (0..repeats)
        .filter_map(|repeat| Some((of(peer, repeat)? / of(versus, repeat)?).ln()))
        .filter(|log| log.is_finite())
        .collect();
    let middle = median(&logs)?;
    let mean = logs.iter().sum::<f64>() / logs.len() as f64;
    Some(Ratio { pairs: logs.len(), mean: mean.exp(), median: middle.exp(), interval: interval(&logs) })
}

fn interval(logs: &[f64]) -> Result<(f64, f64), Refusal> {
    if logs.len() < PAIRS_MIN {
        return Err(Refusal::TooFew { needed: PAIRS_MIN, had: logs.len() });
    }
    let (low, high) = MeanTest::of_logs(logs)?.interval(LEVEL);
    Ok((low.exp(), high.exp()))
}

/// Each target in each case.
pub(crate) fn verdicts(rows: &[Row], cases: &[u32], targets: &[Target]) -> Vec<Verdict> {
    let each = targets.iter().flat_map(|target| cases.iter().map(move |case| (*target, *case)));
    each.map(|(target, connections)| Verdict {
        target,
        connections,
        ratio: ratio(rows, connections, target.peer, target.versus, CPU),
    })
    .collect()
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    const TARGET: Target = Target { peer: "prony", versus: "wrk", ratio_max: 0.85 };

    /// A row with round numbers around a CPU time per request.
    pub(crate) fn row(repeat: u32, peer: &str, connections: u32, cpu_us_per_request: f64) -> Row {
        Row {
            repeat,
            peer: peer.to_owned(),
            connections,
            requests: Some(400_000),
            requests_per_s: Some(1e6 / cpu_us_per_request),
            cpu_us_per_request: Some(cpu_us_per_request),
            peak_rss_bytes: Some((4 + u64::from(repeat)) << 20),
            generator_busy_share: 0.99,
            server_busy_share: Some(0.7),
            ..Row::default()
        }
    }

    /// prony at the ratios given to a wrk that drifts from 8 µs upwards.
    pub(crate) fn drifting(ratios: &[f64]) -> Vec<Row> {
        (0_u32..)
            .zip(ratios)
            .flat_map(|(repeat, ratio)| {
                let wrk = 8.0 + f64::from(repeat);
                [row(repeat, "prony", 64, wrk * ratio), row(repeat, "wrk", 64, wrk)]
            })
            .collect()
    }

    fn near(got: f64, wanted: f64) {
        assert!((got - wanted).abs() < 1e-9, "{got} is not {wanted}");
    }

    #[test]
    fn ratios_are_paired_so_a_drift_of_the_machine_drops_out() {
        let rows = drifting(&[0.69, 0.70, 0.70, 0.71, 0.70]);
        let ratio = ratio(&rows, 64, "prony", "wrk", CPU).unwrap();
        assert_eq!(ratio.pairs, 5);
        near(ratio.median, 0.70);
        near(ratio.mean, (0.69_f64 * 0.70 * 0.70 * 0.71 * 0.70).powf(0.2));
        let (low, high) = ratio.interval.unwrap();
        let logs = [0.69_f64, 0.70, 0.70, 0.71, 0.70].map(f64::ln);
        let mean = logs.iter().sum::<f64>() / 5.0;
        let sd = (logs.iter().map(|log| (log - mean).powi(2)).sum::<f64>() / 4.0).sqrt();
        // t(0.975, 4) from a table.
        let half = 2.776_445_105_197_793_4 * sd / 5.0_f64.sqrt();
        near(low, (mean - half).exp());
        near(high, (mean + half).exp());
        assert!(0.69 < low && high < 0.71);
    }

    #[test]
    fn a_void_run_costs_its_pair_and_few_pairs_their_interval() {
        let mut rows = drifting(&[0.7, 0.71, 0.69, 0.7, 9.0]);
        rows[8].void = "reset 2".to_owned();
        let got = ratio(&rows, 64, "prony", "wrk", CPU).unwrap();
        assert_eq!((got.pairs, got.interval), (4, Err(Refusal::TooFew { needed: 5, had: 4 })));
        assert!(got.mean < 0.71);
        let line = line(&rows, 64, "prony");
        assert_eq!((line.valid, line.void), (4, 1));
        assert_eq!(ratio(&rows, 64, "prony", "hey", CPU), None);
        assert_eq!(ratio(&rows, 16, "prony", "wrk", CPU), None);
        assert_eq!(ratio(&[], 64, "prony", "wrk", CPU), None);
    }

    #[test]
    fn equal_ratios_have_no_interval() {
        let got = ratio(&drifting(&[0.5; 7]), 64, "prony", "wrk", CPU).unwrap();
        assert_eq!(got.interval, Err(Refusal::NoSpread { had: 7 }));
    }

    #[test]
    fn columns_are_medians_of_valid_runs() {
        let mut rows = drifting(&[0.5, 0.5, 0.5]);
        rows.push(Row { void: "no answers".to_owned(), ..row(3, "wrk", 64, 900.0) });
        let wanted = Line {
            peer: "wrk".to_owned(),
            connections: 64,
            valid: 3,
            void: 1,
            requests_per_s: Some(1e6 / 9.0),
            cpu_us_per_request: Some(9.0),
            peak_rss_bytes: Some(5.0 * 1024.0 * 1024.0),
            generator_busy_share: Some(0.99),
            server_busy_share: Some(0.7),
        };
        assert_eq!(lines(&rows, &[64], &["wrk"]), [wanted]);
        let nothing = line(&rows, 512, "wrk");
        assert_eq!((nothing.valid, nothing.cpu_us_per_request), (0, None));
    }

    #[test]
    fn targets_are_met_missed_or_unknown() {
        let check = |ratios: &[f64], wanted: Standing, certain: bool| {
            let verdicts = verdicts(&drifting(ratios), &[64], &[TARGET]);
            match (verdicts[0].standing(), wanted) {
                (Standing::MissedBy(got), Standing::MissedBy(wanted)) => assert!((got - wanted).abs() < 1e-3),
                (got, wanted) => assert_eq!(got, wanted),
            }
            assert_eq!(verdicts[0].is_certain(), certain, "{ratios:?}");
        };
        check(&[0.7, 0.71, 0.69, 0.7, 0.72], Standing::Met, true);
        check(&[0.95, 0.96, 0.94, 0.95, 0.95], Standing::MissedBy(0.1), true);
        check(&[0.7, 0.95, 0.8, 0.9, 0.85], Standing::Met, false);
        check(&[0.7, 0.7], Standing::Met, false);
        check(&[], Standing::Unknown, false);
    }
}
