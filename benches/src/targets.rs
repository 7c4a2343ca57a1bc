//! What prony has to reach, and how it stands. A target is a line of data; a missed one is reported, never an exit
//! code.

use crate::peer::{BEFORE, SELF};
use crate::render::{SERVER_BUSY_SHARE, micros, ratio_cell};
use crate::row::Row;
use crate::summary::{CPU, GAP_P50, GAP_P99, RATE, Ratio, Value, middle, pace_lines, ratio};

/// The bound of a ratio.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Bound {
    AtMost(f64),
    AtLeast(f64),
}

/// A ratio that prony has to reach in some cases.
struct Target {
    cases: &'static [&'static str],
    /// What is compared, in words.
    what: &'static str,
    value: Value,
    versus: &'static str,
    bound: Bound,
    /// Says nothing where the server was the limit.
    needs_idle_server: bool,
}

const fn at_most(
    what: &'static str,
    value: Value,
    versus: &'static str,
    most: f64,
    cases: &'static [&'static str],
) -> Target {
    Target { cases, what, value, versus, bound: Bound::AtMost(most), needs_idle_server: false }
}

const fn at_least(
    what: &'static str,
    versus: &'static str,
    least: f64,
    needs_idle_server: bool,
    cases: &'static [&'static str],
) -> Target {
    Target { cases, what, value: RATE, versus, bound: Bound::AtLeast(least), needs_idle_server }
}

const ALL_CLOSED: &[&str] = &["closed-16", "closed-64", "closed-512", "closed-4096"];
const CPU_WORDS: &str = "CPU per request";

/// All targets that are ratios to one peer.
const RATIOS: [Target; 20] = [
    at_most(CPU_WORDS, CPU, "prony-before", 1.0, &["closed-16", "closed-64", "closed-512"]),
    at_most(CPU_WORDS, CPU, "prony-before", 0.97, &["closed-4096"]),
    at_most(CPU_WORDS, CPU, "wrk", 0.72, &["closed-16", "closed-64"]),
    at_most(CPU_WORDS, CPU, "wrk", 0.62, &["closed-512", "closed-4096"]),
    at_most(CPU_WORDS, CPU, "limit", 1.05, ALL_CLOSED),
    at_most(CPU_WORDS, CPU, "gcannon", 1.0, ALL_CLOSED),
    at_least("requests/s", "wrk", 1.35, true, ALL_CLOSED),
    at_most(CPU_WORDS, CPU, "wrk", 0.8, &["https-64"]),
    at_most("CPU per request with a Lua script", CPU, "wrk", 0.8, &["script-64"]),
    at_least("handshakes/s", "wrk", 1.0, false, &["handshake-64"]),
    at_least("bytes/s", "wrk", 1.0, false, &["large-64"]),
    at_most(CPU_WORDS, CPU, "h2load", 1.0, &["h2-1x1"]),
    at_most(CPU_WORDS, CPU, "h2load", 0.8, &["h2-1x10"]),
    at_most(CPU_WORDS, CPU, "h2load", 0.5, &["h2-1x100"]),
    at_most(CPU_WORDS, CPU, "h2load", 0.75, &["h2-16x10"]),
    at_most(CPU_WORDS, CPU, "h2load", 0.8, &["h2-tls-16x10"]),
    at_most("CPU per call", CPU, "ghz", 1.0 / 25.0, &["grpc-1x50"]),
    at_most("CPU per call", CPU, "ghz", 1.0 / 15.0, &["grpc-mix-1x50"]),
    at_most("median error of arrival gaps", GAP_P50, "wrk2", 0.1, &["rate-10k"]),
    at_most("p99 error of arrival gaps", GAP_P99, "wrk2", 0.3, &["rate-10k"]),
];

/// The peer of the pacing targets; where it is missing, the best other one that holds the rate is named.
const PACER: &str = "wrk2";
/// The median error of arrival gaps may be this much at 10,000/s.
const GAP_ERROR_NS_MAX: f64 = 2_000.0;
/// A peer holds the rate if arrivals are this close to it.
const HELD_SHARE: f64 = 0.02;
/// prony's median may exceed what the wire allows by this, or by the share of it.
const SERVICE_NS_MAX: f64 = 2_000.0;
const SERVICE_SHARE_MAX: f64 = 0.03;

/// How every target stands in the cases that were measured, a sentence each.
pub(crate) fn verdicts(rows: &[Row], cases: &[&str], peers: &[&str]) -> Vec<String> {
    let mut lines = Vec::new();
    let is_asked = |target: &&Target| target.versus != BEFORE || peers.contains(&BEFORE);
    for target in RATIOS.iter().filter(is_asked) {
        for case in target.cases.iter().filter(|case| cases.contains(case)) {
            lines.push(verdict(rows, case, target, peers));
        }
    }
    lines.extend(cases.contains(&"rate-10k").then(|| gap_verdict(rows)));
    for case in ["rate-1k", "rate-10k"] {
        lines.extend(cases.contains(&case).then(|| service_verdict(rows, case)));
    }
    lines
}

fn verdict(rows: &[Row], case: &str, target: &Target, peers: &[&str]) -> String {
    let Target { what, versus, value, .. } = *target;
    let asked = |versus: &str| match target.bound {
        Bound::AtMost(most) => format!("{case}: {what} at most {} of {versus}'s", bound(most)),
        Bound::AtLeast(least) => format!("{case}: {what} at least {} of {versus}'s", bound(least)),
    };
    let judged = |versus: &str| match ratio(rows, case, SELF, versus, value) {
        Some(ratio) => judged(target.bound, ratio),
        None => "unknown, no repeat has both runs valid".to_owned(),
    };
    if !peers.contains(&versus) {
        let instead = (versus == PACER).then(|| best_pacer(rows, case, peers, value)).flatten();
        return match instead {
            Some(best) => format!(
                "{}: unknown, {versus} is not here; held against {best}, the best other that holds the rate: {}",
                asked(versus),
                judged(best)
            ),
            None => format!("{}: unknown, {versus} is not here", asked(versus)),
        };
    }
    if target.needs_idle_server
        && let Some(share) = busiest_server(rows, case, versus)
    {
        return format!(
            "{}: unknown, the server was the limit ({:.0} % busy); measured {}",
            asked(versus),
            share * 100.0,
            ratio_cell(ratio(rows, case, SELF, versus, value))
        );
    }
    format!("{}: {}", asked(versus), judged(versus))
}

/// A bound with two digits, or three where it needs them.
fn bound(limit: f64) -> String {
    let digits = if (limit * 100.0 - (limit * 100.0).round()).abs() < 0.001 { 2 } else { 3 };
    format!("{limit:.digits$}")
}

fn judged(bound: Bound, ratio: Ratio) -> String {
    let (limit, missed_by) = match bound {
        Bound::AtMost(most) => (most, ratio.mean - most),
        Bound::AtLeast(least) => (least, least - ratio.mean),
    };
    let standing = if missed_by <= 0.0 { "met".to_owned() } else { format!("missed by {missed_by:.3}") };
    let doubt = match ratio.interval {
        Err(refusal) => format!("; no interval: {refusal}"),
        Ok((low, high)) if low <= limit && limit <= high => {
            "; the interval reaches across the target, repeat more often".to_owned()
        }
        Ok(_) => String::new(),
    };
    format!("{standing} ({}{doubt})", ratio_cell(Some(ratio)))
}

/// The share of the server with prony or the other, where either kept it too busy.
fn busiest_server(rows: &[Row], case: &str, versus: &str) -> Option<f64> {
    let busy = |peer: &str| middle(rows, case, peer, |row| row.server_busy_share);
    let most = [busy(SELF), busy(versus)].into_iter().flatten().fold(0.0, f64::max);
    (most > SERVER_BUSY_SHARE).then_some(most)
}

/// The peer but prony and the ping-pong that holds the rate and has the least of `value`.
fn best_pacer<'a>(rows: &[Row], case: &str, peers: &[&'a str], value: Value) -> Option<&'a str> {
    let rate = crate::case::find(case).first()?.rate_per_s?;
    let holds = |peer: &str| {
        let lines = pace_lines(rows, &[case], &[peer]);
        lines.iter().any(|line| (line.arrivals_per_s / f64::from(rate) - 1.0).abs() <= HELD_SHARE)
    };
    peers
        .iter()
        .copied()
        .filter(|peer| *peer != SELF && *peer != "pingpong" && holds(peer))
        .filter_map(|peer| Some((peer, middle(rows, case, peer, value)?)))
        .min_by(|a, b| a.1.total_cmp(&b.1))
        .map(|(peer, _)| peer)
}

fn gap_verdict(rows: &[Row]) -> String {
    let asked = format!("rate-10k: median error of arrival gaps at most {}", micros(GAP_ERROR_NS_MAX));
    let Some((mean, interval)) = crate::summary::spread(rows, "rate-10k", SELF, GAP_P50) else {
        return format!("{asked}: unknown, no valid run");
    };
    let range = interval
        .map_or("no interval".to_owned(), |(low, high)| format!("[{}, {}]", micros(low), micros(high)));
    let standing = if mean <= GAP_ERROR_NS_MAX {
        "met".to_owned()
    } else {
        format!("missed by {}", micros(mean - GAP_ERROR_NS_MAX))
    };
    format!("{asked}: {standing} ({} {range})", micros(mean))
}

/// prony's recorded median without the server's time, against the same of the bare ping-pong.
fn service_verdict(rows: &[Row], case: &str) -> String {
    let asked = format!(
        "{case}: recorded service p50 within {} or {:.0} % of what the wire allows",
        micros(SERVICE_NS_MAX),
        SERVICE_SHARE_MAX * 100.0
    );
    let outside: Value = |row| Some(row.service_p50_ns?.saturating_sub(row.residence_p50_ns?) as f64);
    let both = middle(rows, case, SELF, outside).zip(middle(rows, case, "pingpong", outside));
    let Some((ours_ns, wire_ns)) = both else {
        return format!("{asked}: unknown, no valid run of both prony and pingpong");
    };
    let difference_ns = ours_ns - wire_ns;
    let share = difference_ns / wire_ns.max(1.0);
    let is_met = difference_ns.abs() <= SERVICE_NS_MAX || share.abs() <= SERVICE_SHARE_MAX;
    let standing = if is_met {
        "met".to_owned()
    } else {
        format!("missed by {}", micros(difference_ns.abs() - SERVICE_NS_MAX))
    };
    format!(
        "{asked}: {standing} (prony {}, ping-pong {}: {:+.2} µs, {:+.1} %)",
        micros(ours_ns),
        micros(wire_ns),
        difference_ns / 1e3,
        share * 100.0
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::summary::tests::{drifting, row};

    fn closed(ratios: &[f64]) -> String {
        verdicts(&drifting(ratios), &["closed-64"], &["prony", "wrk"]).join("\n")
    }

    #[test]
    fn ratios_are_met_missed_or_unknown() {
        let met = closed(&[0.7, 0.71, 0.69, 0.7, 0.7]);
        assert!(met.contains("closed-64: CPU per request at most 0.72 of wrk's: met (0.700 ["), "{met}");
        assert!(met.contains("requests/s at least 1.35 of wrk's: met (1.429 ["), "{met}");
        assert!(met.contains("of gcannon's: unknown, gcannon is not here"), "{met}");
        let missed = closed(&[0.9, 0.9, 0.8]);
        assert!(missed.contains("of wrk's: missed by 0.145 (0.865 [none]; no interval"), "{missed}");
        assert!(missed.contains("at least 1.35 of wrk's: missed by 0.194"), "{missed}");
        let unsure = closed(&[0.6, 0.9, 0.7, 0.7, 0.65]);
        assert!(unsure.contains("reaches across the target"), "{unsure}");
        assert!(closed(&[]).contains("unknown, no repeat"), "{}", closed(&[]));
    }

    #[test]
    fn bounds_have_as_many_digits_as_they_need() {
        assert_eq!([0.72, 1.0, 1.0 / 15.0].map(bound), ["0.72", "1.00", "0.067"]);
    }

    #[test]
    fn a_busy_server_leaves_requests_per_second_open() {
        let mut rows = drifting(&[0.7, 0.71, 0.69, 0.7, 0.7]);
        rows.iter_mut().for_each(|row| row.server_busy_share = Some(0.97));
        let lines = verdicts(&rows, &["closed-64"], &["prony", "wrk"]).join("\n");
        assert!(lines.contains("unknown, the server was the limit (97 % busy); measured 1.429 ["), "{lines}");
        assert!(lines.contains("at most 0.72 of wrk's: met"), "{lines}");
    }

    fn paced(peer: &str, rate: f64, gap_ns: u64, service_ns: u64) -> Vec<Row> {
        let of = |repeat: u32| Row {
            case: "rate-10k".to_owned(),
            arrivals_per_s: Some(rate),
            gap_error_p50_ns: Some(gap_ns + u64::from(repeat)),
            gap_error_p99_ns: Some(10 * gap_ns + u64::from(repeat)),
            residence_p50_ns: Some(500),
            service_p50_ns: Some(service_ns),
            ..row(repeat, peer, 16, 9.0)
        };
        (0..5).map(of).collect()
    }

    #[test]
    fn pacing_is_held_against_wrk2_or_the_best_that_holds_the_rate() {
        let mut rows = paced("prony", 10_000.0, 1_500, 24_000);
        rows.extend(paced("fast", 7_000.0, 10, 0));
        rows.extend(paced("oha", 9_990.0, 30_000, 0));
        rows.extend(paced("hey", 10_000.0, 90_000, 0));
        rows.extend(paced("pingpong", 10_000.0, 100, 23_000));
        let cases = ["rate-10k"];
        let lines = verdicts(&rows, &cases, &["prony", "fast", "oha", "hey", "pingpong"]).join("\n");
        assert!(lines.contains("wrk2 is not here; held against oha, the best other"), "{lines}");
        assert!(lines.contains("at most 2.00 µs: met (1.50 µs [1.50 µs, 1.50 µs])"), "{lines}");
        assert!(lines.contains("met (prony 23.50 µs, ping-pong 22.50 µs: +1.00 µs, +4.4 %)"), "{lines}");
        rows.extend(paced("wrk2", 10_000.0, 10_000, 0));
        let lines = verdicts(&rows, &cases, &["prony", "oha", "wrk2", "pingpong"]).join("\n");
        assert!(lines.contains("at most 0.10 of wrk2's: missed by 0.050 (0.150 ["), "{lines}");
        assert!(lines.contains("at most 0.30 of wrk2's: met (0.150 ["), "{lines}");
    }

    #[test]
    fn what_prony_adds_to_the_wire_is_missed_when_it_is_too_much() {
        let mut rows = paced("prony", 10_000.0, 9_000, 40_500);
        rows.extend(paced("pingpong", 10_000.0, 100, 20_500));
        let lines = verdicts(&rows, &["rate-10k"], &["prony", "pingpong"]).join("\n");
        assert!(
            lines.contains("missed by 18.00 µs (prony 40.00 µs, ping-pong 20.00 µs: +20.00 µs"),
            "{lines}"
        );
        assert!(lines.contains("at most 2.00 µs: missed by 7.00 µs"), "{lines}");
    }
}
