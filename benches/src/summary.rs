//! From rows to medians and paired ratios. Pure arithmetic; nothing here is printed or read.
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
    /// Name of the case.
    pub(crate) case: String,
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
/// Median error of the gaps between arrivals; at least 1 ns, so that it has a logarithm.
pub(crate) const GAP_P50: Value = |row| row.gap_error_p50_ns.map(|ns| ns.max(1) as f64);
/// 99th percentile of the same.
pub(crate) const GAP_P99: Value = |row| row.gap_error_p99_ns.map(|ns| ns.max(1) as f64);

/// Medians of a peer in a case whose requests came at a constant rate.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct PaceLine {
    /// Name of the peer.
    pub(crate) peer: String,
    /// Name of the case.
    pub(crate) case: String,
    /// Requests a second as they arrived.
    pub(crate) arrivals_per_s: f64,
    /// Median |gap − ideal|.
    pub(crate) gap_error_p50_ns: f64,
    /// 99th percentile of it.
    pub(crate) gap_error_p99_ns: f64,
    /// Time in the server.
    pub(crate) residence_p50_ns: f64,
    /// Time that the peer recorded.
    pub(crate) service_p50_ns: Option<f64>,
    /// CPU time of the peer.
    pub(crate) cpu_us_per_request: Option<f64>,
}

/// One line for each case and peer that ran, in the order of `cases` and of `peers`.
pub(crate) fn lines(rows: &[Row], cases: &[&str], peers: &[&str]) -> Vec<Line> {
    let pairs = cases.iter().flat_map(|case| peers.iter().map(move |peer| (*case, *peer)));
    pairs
        .filter(|(case, peer)| rows.iter().any(|row| row.case == *case && row.peer == *peer))
        .map(|(case, peer)| line(rows, case, peer))
        .collect()
}

/// One line for each case with a rate and peer with a valid run.
pub(crate) fn pace_lines(rows: &[Row], cases: &[&str], peers: &[&str]) -> Vec<PaceLine> {
    let pairs = cases.iter().flat_map(|case| peers.iter().map(move |peer| (*case, *peer)));
    pairs
        .filter_map(|(case, peer)| {
            let middle = |value: Value| middle(rows, case, peer, value);
            Some(PaceLine {
                peer: peer.to_owned(),
                case: case.to_owned(),
                arrivals_per_s: middle(|row| row.arrivals_per_s)?,
                gap_error_p50_ns: middle(GAP_P50)?,
                gap_error_p99_ns: middle(GAP_P99)?,
                residence_p50_ns: middle(|row| row.residence_p50_ns.map(|ns| ns as f64))?,
                service_p50_ns: middle(|row| row.service_p50_ns.map(|ns| ns as f64)),
                cpu_us_per_request: middle(CPU),
            })
        })
        .collect()
}

/// The median over the valid runs of a peer in a case.
pub(crate) fn middle(rows: &[Row], case: &str, peer: &str, value: Value) -> Option<f64> {
    median(&values(rows, case, peer, value))
}

fn values(rows: &[Row], case: &str, peer: &str, value: Value) -> Vec<f64> {
    let mine = rows.iter().filter(|row| row.is_valid() && row.peer == peer && row.case == case);
    mine.filter_map(value).collect()
}

/// Geometric mean of a positive value over the valid runs, with its 95 % interval where there is one.
pub(crate) fn spread(
    rows: &[Row],
    case: &str,
    peer: &str,
    value: Value,
) -> Option<(f64, Option<(f64, f64)>)> {
    let logs: Vec<f64> = values(rows, case, peer, value).iter().map(|value| value.ln()).collect();
    if logs.is_empty() || logs.iter().any(|log| !log.is_finite()) {
        return None;
    }
    let mean = logs.iter().sum::<f64>() / logs.len() as f64;
    Some((mean.exp(), interval(&logs).ok()))
}

fn line(rows: &[Row], case: &str, peer: &str) -> Line {
    let mine = || rows.iter().filter(move |row| row.peer == peer && row.case == case);
    let middle = |value: Value| middle(rows, case, peer, value);
    Line {
        peer: peer.to_owned(),
        case: case.to_owned(),
        valid: mine().filter(|row| row.is_valid()).count(),
        void: mine().filter(|row| !row.is_valid()).count(),
        requests_per_s: middle(RATE),
        cpu_us_per_request: middle(CPU),
        peak_rss_bytes: middle(|row| row.peak_rss_bytes.map(|bytes| bytes as f64)),
        generator_busy_share: middle(|row| Some(row.generator_busy_share)),
        server_busy_share: middle(|row| row.server_busy_share),
    }
}

/// `peer` over `versus` in a case; absent without a pair.
pub(crate) fn ratio(rows: &[Row], case: &str, peer: &str, versus: &str, value: Value) -> Option<Ratio> {
    let of = |peer: &str, repeat: u32| {
        let mut mine = rows
            .iter()
            .filter(|row| row.is_valid() && row.peer == peer && row.case == case && row.repeat == repeat);
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

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// A row with round numbers around a CPU time per request.
    pub(crate) fn row(repeat: u32, peer: &str, connections: u32, cpu_us_per_request: f64) -> Row {
        Row {
            repeat,
            peer: peer.to_owned(),
            case: format!("closed-{connections}"),
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
        let ratio = ratio(&rows, "closed-64", "prony", "wrk", CPU).unwrap();
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
        let got = ratio(&rows, "closed-64", "prony", "wrk", CPU).unwrap();
        assert_eq!((got.pairs, got.interval), (4, Err(Refusal::TooFew { needed: 5, had: 4 })));
        assert!(got.mean < 0.71);
        let line = line(&rows, "closed-64", "prony");
        assert_eq!((line.valid, line.void), (4, 1));
        assert_eq!(ratio(&rows, "closed-64", "prony", "hey", CPU), None);
        assert_eq!(ratio(&rows, "closed-16", "prony", "wrk", CPU), None);
        assert_eq!(ratio(&[], "closed-64", "prony", "wrk", CPU), None);
    }

    #[test]
    fn equal_ratios_have_no_interval() {
        let got = ratio(&drifting(&[0.5; 7]), "closed-64", "prony", "wrk", CPU).unwrap();
        assert_eq!(got.interval, Err(Refusal::NoSpread { had: 7 }));
    }

    #[test]
    fn columns_are_medians_of_valid_runs() {
        let mut rows = drifting(&[0.5, 0.5, 0.5]);
        rows.push(Row { void: "no answers".to_owned(), ..row(3, "wrk", 64, 900.0) });
        let wanted = Line {
            peer: "wrk".to_owned(),
            case: "closed-64".to_owned(),
            valid: 3,
            void: 1,
            requests_per_s: Some(1e6 / 9.0),
            cpu_us_per_request: Some(9.0),
            peak_rss_bytes: Some(5.0 * 1024.0 * 1024.0),
            generator_busy_share: Some(0.99),
            server_busy_share: Some(0.7),
        };
        assert_eq!(lines(&rows, &["closed-64"], &["wrk"]), [wanted]);
        let nothing = line(&rows, "closed-512", "wrk");
        assert_eq!((nothing.valid, nothing.cpu_us_per_request), (0, None));
    }

    #[test]
    fn pacing_lines_and_spreads_are_of_valid_runs() {
        let paced = |repeat: u32, error_ns: u64| Row {
            case: "rate-10k".to_owned(),
            arrivals_per_s: Some(10_000.0),
            gap_error_p50_ns: Some(error_ns),
            gap_error_p99_ns: Some(10 * error_ns),
            residence_p50_ns: Some(700),
            ..row(repeat, "prony", 16, 9.0)
        };
        let mut rows = vec![paced(0, 100), paced(1, 400), paced(2, 200)];
        rows.push(Row { void: "x".to_owned(), ..paced(3, 9_000) });
        let lines = pace_lines(&rows, &["rate-10k", "rate-1k"], &["prony", "wrk2"]);
        assert_eq!(lines.len(), 1);
        assert_eq!((lines[0].gap_error_p50_ns, lines[0].gap_error_p99_ns), (200.0, 2_000.0));
        let (mean, interval) = spread(&rows, "rate-10k", "prony", GAP_P50).unwrap();
        near(mean, 200.0);
        assert_eq!(interval, None);
        assert_eq!(spread(&rows, "rate-1k", "prony", GAP_P50), None);
    }
}
