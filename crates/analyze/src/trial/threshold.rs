//! Thresholds of one load: `p99>50ms` says when it has failed. Parsed before the load starts, decided after it.
//!
//! Invariants: a percentile is held against its limit by its rank interval, so that few requests decide what is clear
//! and many are asked for where it is not (METHOD §4); what cannot be decided counts as failed and says why; numbers in
//! a result are finite.
//! Absent on purpose: comparisons between loads, which need trials and an experiment (METHOD §0.1).

use crate::words::{Noun, bytes, count, duration, number, percent};
use schema::load::{ErrorClass, Latencies, LatencySummary, LoadReport, RankInterval, ThresholdResult};
use schema::said;
use schema::said::{Arg, Said};
use schema::text::nearest;
use std::fmt;
use std::str::FromStr;
use units::{Bytes, Count, Nanos, PerSecond};

/// A condition under which a load counts as failed: metric, comparison, limit.
#[derive(Clone, Debug, PartialEq)]
pub struct Threshold {
    /// As it was written.
    expression: String,
    metric: ThresholdMetric,
    comparison: Comparison,
    /// In the base unit of the metric: nanoseconds, a share from 0 to 1, a count, bytes, or per second.
    limit: f64,
}

/// Why an expression is no threshold.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{expression}` is no threshold: {cause}\n  remedy: {remedy}")]
pub struct ThresholdError {
    pub(super) expression: String,
    pub(super) cause: String,
    pub(super) remedy: String,
}

#[derive(Clone, Debug, PartialEq)]
enum ThresholdMetric {
    /// A field of the summary of a kind of time.
    Time { kind: String, field: Field },
    /// Failed over completed and failed.
    ErrorShare,
    /// Failed requests, all or of one class.
    ErrorCount(Option<ErrorClass>),
    /// Right answers per second.
    Throughput,
    /// Requests that were answered rightly.
    Completed,
    /// Requests unsent or in flight at the end.
    Censored,
    /// Bytes received, sent, or both.
    Bytes(Direction),
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Direction {
    Read,
    Written,
    Both,
}

/// A field of [`LatencySummary`]: its name in expressions and its key in `refused`.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Field {
    name: &'static str,
    key: &'static str,
}

const FIELDS: [Field; 8] = [
    Field { name: "p50", key: "p50" },
    Field { name: "p90", key: "p90" },
    Field { name: "p95", key: "p95" },
    Field { name: "p99", key: "p99" },
    Field { name: "p99.9", key: "p999" },
    Field { name: "mean", key: "mean" },
    Field { name: "min", key: "min" },
    Field { name: "max", key: "max" },
];

/// Names beside the times.
const PLAIN: [&str; 8] =
    ["errors", "rate", "throughput", "completed", "censored", "bytes", "bytes.read", "bytes.written"];

#[derive(Clone, Copy, Debug, PartialEq)]
enum Comparison {
    Above,
    AtLeast,
    Below,
    AtMost,
}

impl Comparison {
    /// Longer signs first, so that `>=` is not read as `>`.
    const ALL: [(&'static str, Self); 4] =
        [(">=", Self::AtLeast), ("<=", Self::AtMost), (">", Self::Above), ("<", Self::Below)];

    fn holds(self, value: f64, limit: f64) -> bool {
        match self {
            Self::Above => value > limit,
            Self::AtLeast => value >= limit,
            Self::Below => value < limit,
            Self::AtMost => value <= limit,
        }
    }

    const fn is_upper(self) -> bool {
        matches!(self, Self::Above | Self::AtLeast)
    }
}

impl Threshold {
    /// Whether it limits failed requests, so that the user has decided how many are too many.
    #[must_use]
    pub const fn is_about_errors(&self) -> bool {
        matches!(self.metric, ThresholdMetric::ErrorShare | ThresholdMetric::ErrorCount(_))
    }
}

impl fmt::Display for Threshold {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.expression)
    }
}

impl FromStr for Threshold {
    type Err = ThresholdError;

    fn from_str(text: &str) -> Result<Self, ThresholdError> {
        let wrong =
            |cause: String, remedy: String| ThresholdError { expression: text.to_owned(), cause, remedy };
        let at = text.find(['<', '>']).ok_or_else(|| {
            wrong(
                "it has no comparison".to_owned(),
                "write metric, comparison and limit, for example 'p99>50ms' or 'errors>0.1%'".to_owned(),
            )
        })?;
        let name = text[..at].trim();
        let (sign, comparison) = Comparison::ALL
            .into_iter()
            .find(|(sign, _)| text[at..].starts_with(sign))
            .expect("the text goes on with < or >");
        let limit = text[at + sign.len()..].trim();
        let metric = metric(name, limit).map_err(|(cause, remedy)| wrong(cause, remedy))?;
        let limit = metric.limit(limit).map_err(|cause| {
            wrong(cause, format!("give a limit such as `{name}{sign}{}`", metric.example()))
        })?;
        Ok(Self { expression: text.trim().to_owned(), metric, comparison, limit })
    }
}

/// The metric of a name; an error share where the limit is a percentage.
fn metric(name: &str, limit: &str) -> Result<ThresholdMetric, (String, String)> {
    use ThresholdMetric::{Bytes, Censored, Completed, ErrorCount, ErrorShare, Throughput};
    Ok(match name {
        "errors" if limit.ends_with('%') => ErrorShare,
        "errors" => ErrorCount(None),
        "rate" | "throughput" => Throughput,
        "completed" => Completed,
        "censored" => Censored,
        "bytes" => Bytes(Direction::Both),
        "bytes.read" => Bytes(Direction::Read),
        "bytes.written" => Bytes(Direction::Written),
        _ => return time_or_class(name),
    })
}

fn time_or_class(name: &str) -> Result<ThresholdMetric, (String, String)> {
    if name.contains('/') {
        let cause = format!("`{name}` is a counter, which a load by itself does not read");
        return Err((cause, "limit it by [[threshold]] of an experiment".to_owned()));
    }
    let (kind, field) = match name.split_once('.') {
        // The point of `p99.9` parts no kind from its field.
        Some((kind, rest)) if !kind.starts_with('p') || kind.starts_with("pacer") => (kind, rest),
        _ => ("response", name),
    };
    if kind == "errors" {
        let class = ErrorClass::ALL.into_iter().find(|class| class.key() == field);
        return class
            .map(|class| ThresholdMetric::ErrorCount(Some(class)))
            .ok_or_else(|| unknown("error class", field, ErrorClass::ALL.map(ErrorClass::key).to_vec()));
    }
    let kinds: Vec<&str> = Latencies::default().all().into_iter().map(|(key, _)| key).collect();
    if !kinds.contains(&kind) {
        return Err(unknown("kind of time", kind, kinds));
    }
    let found = FIELDS.into_iter().find(|known| known.name == field || known.key == field);
    match found {
        Some(field) => Ok(ThresholdMetric::Time { kind: kind.to_owned(), field }),
        None => {
            let names = FIELDS.iter().map(|field| field.name);
            let plain = if kind == "response" { &PLAIN[..] } else { &[] };
            Err(unknown("metric", field, names.chain(plain.iter().copied()).collect()))
        }
    }
}

fn unknown(what: &str, wrong: &str, valid: Vec<&str>) -> (String, String) {
    let remedy = match nearest(wrong, valid.iter().copied()) {
        Some(near) => format!("did you mean `{near}`? There are {}", valid.join(", ")),
        None => format!("use one of {}", valid.join(", ")),
    };
    (format!("there is no {what} `{wrong}`"), remedy)
}

impl ThresholdMetric {
    /// The limit in the metric's base unit.
    fn limit(&self, text: &str) -> Result<f64, String> {
        let told = |error: units::ParseQuantityError| error.to_string();
        match self {
            Self::Time { .. } => text.parse::<Nanos>().map(|limit| limit.0 as f64).map_err(told),
            Self::ErrorShare => {
                let number = text.trim_end_matches('%').trim();
                let percent = number.parse::<f64>().ok().filter(|percent| (0.0..=100.0).contains(percent));
                percent
                    .map(|percent| percent / 100.0)
                    .ok_or_else(|| format!("`{text}` is no percentage from 0% to 100%"))
            }
            Self::ErrorCount(_) | Self::Completed | Self::Censored => {
                text.parse::<Count>().map(|limit| limit.0 as f64).map_err(told)
            }
            Self::Throughput => text.parse::<PerSecond>().map(|limit| limit.0).map_err(told),
            Self::Bytes(_) => text.parse::<Bytes>().map(|limit| limit.0 as f64).map_err(told),
        }
    }

    const fn example(&self) -> &'static str {
        match self {
            Self::Time { .. } => "50ms",
            Self::ErrorShare => "0.1%",
            Self::ErrorCount(_) | Self::Completed | Self::Censored => "100",
            Self::Throughput => "10k",
            Self::Bytes(_) => "64MiB",
        }
    }

    fn words(&self, value: f64) -> Arg {
        match self {
            Self::Time { .. } => duration(value).into(),
            Self::ErrorShare => percent(value).into(),
            Self::ErrorCount(_) | Self::Completed | Self::Censored => {
                count(value as usize, Noun::Request).into()
            }
            Self::Throughput => format!("{}/s", number(value)).into(),
            Self::Bytes(_) => bytes(value).into(),
        }
    }

    fn value(&self, report: &LoadReport) -> Found {
        let requests = &report.requests;
        let known = |value: f64| Found::known(Some(value));
        match self {
            Self::Time { kind, field } => {
                let all = report.latency_ns.all();
                all.iter().find(|(key, _)| key == kind).map_or_else(
                    || Found::refused(said!("threshold.no_such_time", "this load has no such time")),
                    |(_, summary)| time(summary, *field),
                )
            }
            Self::ErrorShare => {
                let ended = requests.completed.saturating_add(requests.failed);
                if ended == 0 {
                    return Found::refused(said!(
                        "threshold.no_request",
                        "no request was completed or failed: measure longer"
                    ));
                }
                known(requests.failed as f64 / ended as f64)
            }
            Self::ErrorCount(None) => known(requests.failed as f64),
            Self::ErrorCount(Some(class)) => {
                known(report.errors.get(class).copied().unwrap_or_default() as f64)
            }
            Self::Throughput => known(report.throughput_per_s),
            Self::Completed => known(requests.completed as f64),
            Self::Censored => known(requests.censored as f64),
            Self::Bytes(Direction::Read) => known(report.bytes.read as f64),
            Self::Bytes(Direction::Written) => known(report.bytes.written as f64),
            Self::Bytes(Direction::Both) => known(report.bytes.read as f64 + report.bytes.written as f64),
        }
    }
}

/// What is known of a metric.
struct Found {
    value: Option<f64>,
    /// The true value is at least `value`; requests that never ended may lie above it.
    is_lower_bound: bool,
    /// Between which values it lies, for a percentile.
    interval: Option<RankInterval>,
    /// Why the value is missing or only a bound.
    why: Said,
}

impl Found {
    fn known(value: Option<f64>) -> Self {
        Self {
            value: value.filter(|value| value.is_finite()),
            is_lower_bound: false,
            interval: None,
            why: said!("threshold.not_finite", "it is not finite"),
        }
    }

    fn refused(why: Said) -> Self {
        Self { value: None, is_lower_bound: false, interval: None, why }
    }
}

/// A percentile with its interval, a mean or an extreme. Requests that never ended lie above every finite one, so they
/// make the mean and the maximum lower bounds (METHOD §1).
fn time(summary: &LatencySummary, field: Field) -> Found {
    let whole = |ns: Option<u64>| ns.map(|ns| ns as f64);
    let value = match field.key {
        "p50" => whole(summary.p50),
        "p90" => whole(summary.p90),
        "p95" => whole(summary.p95),
        "p99" => whole(summary.p99),
        "p999" => whole(summary.p999),
        "mean" => summary.mean,
        "min" => whole(summary.min),
        _ => whole(summary.max),
    };
    let interval = summary.intervals.get(field.key).copied();
    if let Some(bound) = summary.at_least.get(field.key) {
        let why = summary.refused.get(field.key).cloned().unwrap_or_else(|| never_ended(summary));
        return Found { value: Some(*bound as f64), is_lower_bound: true, interval, why };
    }
    match value {
        Some(_) if summary.censored > 0 && matches!(field.key, "mean" | "max") => {
            Found { value, is_lower_bound: true, interval: None, why: never_ended(summary) }
        }
        Some(_) => Found { interval, ..Found::known(value) },
        None => {
            let why = summary.refused.get(field.key).cloned();
            let why = why.unwrap_or_else(|| said!("threshold.not_measured", "it was not measured"));
            Found { interval, ..Found::refused(why) }
        }
    }
}

fn never_ended(summary: &LatencySummary) -> Said {
    said!(
        "threshold.never_ended",
        "{requests} never ended and lie above it",
        requests = count(summary.censored as usize, Noun::Request)
    )
}

impl Threshold {
    /// The quantile that is asked about, 0 to 1; `None` for what is no percentile.
    pub(super) fn quantile(&self) -> Option<f64> {
        let ThresholdMetric::Time { field, .. } = &self.metric else { return None };
        let nines = field.name.strip_prefix('p')?;
        nines.parse::<f64>().ok().map(|percent| percent / 100.0)
    }

    /// Whether requests that never ended leave only a lower bound of the metric.
    pub(super) fn is_bound_by_unended(&self, report: &LoadReport) -> bool {
        self.metric.value(report).is_lower_bound
    }

    /// Holds the threshold against a load.
    #[must_use]
    pub fn check(&self, report: &LoadReport) -> ThresholdResult {
        let found = self.metric.value(report);
        let crossed = self.crossed(&found);
        ThresholdResult {
            expression: self.expression.clone(),
            failed: crossed != Some(false),
            decided: crossed.is_some(),
            value: found.value,
            limit: self.limit,
            text: self.text(found, crossed.is_some()),
        }
    }

    /// Whether the limit is crossed; `None` where that cannot be decided.
    ///
    /// An interval wholly on one side of the limit decides; so does the value where the interval is narrow. A lower
    /// bound decides only that an upper limit is crossed.
    fn crossed(&self, found: &Found) -> Option<bool> {
        let holds = |value: f64| self.comparison.holds(value, self.limit);
        if let Some(crossed) = found.interval.and_then(|interval| self.by_interval(interval)) {
            return Some(crossed);
        }
        let value = found.value?;
        if found.is_lower_bound {
            return (holds(value) && self.comparison.is_upper()).then_some(true);
        }
        let is_wide = found.interval.is_some_and(|interval| interval.is_wide);
        (!is_wide).then(|| holds(value))
    }

    /// What both ends of the interval agree on. A missing end lies at 0 or beyond every limit.
    fn by_interval(&self, interval: RankInterval) -> Option<bool> {
        let low = interval.low.map_or(0.0, |ns| ns as f64);
        let high = interval.high.map_or(f64::INFINITY, |ns| ns as f64);
        let holds = |value: f64| self.comparison.holds(value, self.limit);
        (holds(low) == holds(high)).then(|| holds(low))
    }

    /// The number that decided, or why none did.
    fn text(&self, found: Found, is_decided: bool) -> Said {
        let why = found.why;
        let value = found.value.map(|value| {
            let value = self.metric.words(value);
            if found.is_lower_bound {
                said!("threshold.at_least", "at least {value}", value)
            } else {
                value.into()
            }
        });
        let wide = found.interval.filter(|interval| interval.is_wide);
        let between = wide.and_then(|interval| self.between(interval));
        match (value, between, is_decided) {
            (Some(value), Some(between), true) if !found.is_lower_bound => {
                said!("threshold.with_interval", "{value} ({between})", value, between)
            }
            (Some(value), _, true) => value,
            (None, Some(between), true) => between,
            (Some(value), Some(between), false) if !found.is_lower_bound => said!(
                "threshold.straddled",
                "cannot be decided: {value} ({between}): measure longer",
                value,
                between
            ),
            (Some(value), _, false) => {
                said!("threshold.bound", "cannot be decided: {value}, {why}", value, why)
            }
            (None, _, _) => said!("threshold.undecided", "cannot be decided: {why}", why),
        }
    }

    /// The ends of an interval in words; `None` where there is none.
    fn between(&self, interval: RankInterval) -> Option<Said> {
        let words = |ns: u64| self.metric.words(ns as f64);
        Some(match (interval.low, interval.high) {
            (Some(low), Some(high)) => said!(
                "threshold.between",
                "between {low} and {high}, 95 % by rank",
                low = words(low),
                high = words(high)
            ),
            (Some(low), None) => {
                said!("threshold.from", "{low} or more, 95 % by rank", low = words(low))
            }
            (None, Some(high)) => {
                said!("threshold.up_to", "{high} or less, 95 % by rank", high = words(high))
            }
            (None, None) => return None,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use schema::load::*;
    use std::collections::BTreeMap;

    fn report() -> LoadReport {
        let response = LatencySummary {
            count: 19_900,
            censored: 32,
            mean: Some(1.3e6),
            min: Some(200_000),
            p50: Some(1_200_000),
            p90: Some(2_000_000),
            p95: Some(2_400_000),
            p99: None,
            p999: None,
            max: Some(912_000_000),
            refused: BTreeMap::from([(
                "p99".into(),
                "needs 368 requests, had 200: measure 1.9 times longer".into(),
            )]),
            at_least: BTreeMap::from([("p999".into(), 912_000_000)]),
            intervals: BTreeMap::from([
                ("p99".into(), RankInterval { low: Some(60_000_000), high: None, is_wide: true }),
                ("p95".into(), RankInterval { low: Some(2_300_000), high: Some(2_500_000), is_wide: false }),
            ]),
        };
        let service = LatencySummary {
            p90: Some(3_000_000),
            p99: Some(4_000_000),
            max: Some(9_000_000),
            intervals: BTreeMap::from([(
                "p90".into(),
                RankInterval { low: Some(2_000_000), high: Some(5_000_000), is_wide: true },
            )]),
            ..LatencySummary::default()
        };
        LoadReport {
            requests: Requests { scheduled: 20_000, completed: 19_868, failed: 100, censored: 32 },
            errors: BTreeMap::from([(ErrorClass::Timeout, 75), (ErrorClass::UnexpectedStatus, 25)]),
            throughput_per_s: 1_990.0,
            bytes: BytesMoved { read: 2 << 20, written: 1 << 20 },
            latency_ns: Latencies { response, service, ..Latencies::default() },
            ..LoadReport::default()
        }
    }

    #[test]
    fn thresholds_trip_where_they_should() {
        for (expression, failed, text) in [
            ("p50>1ms", true, "1.2 ms"),
            ("p50 > 2ms", false, "1.2 ms"),
            ("p90>=2ms", true, "2 ms"),
            ("p90>2ms", false, "2 ms"),
            ("response.p95<=2.4ms", true, "2.4 ms"),
            ("p95>2.45ms", false, "2.4 ms"),
            ("service.p90>1ms", true, "3 ms (between 2 ms and 5 ms, 95 % by rank)"),
            ("service.p90>6ms", false, "3 ms (between"),
            ("p99>50ms", true, "60 ms or more, 95 % by rank"),
            ("p99<50ms", false, "60 ms or more"),
            ("service.p99>3ms", true, "4 ms"),
            ("service.p99>5ms", false, "4 ms"),
            ("service.max>5ms", true, "9 ms"),
            ("errors>0.5%", true, "0.5 %"),
            ("errors>0.6%", false, "0.5 %"),
            ("errors>99", true, "100 requests"),
            ("errors>100", false, "100 requests"),
            ("errors.timeout>=75", true, "75 requests"),
            ("errors.reset>0", false, "0 requests"),
            ("rate<2k", true, "1,990/s"),
            ("throughput<1900", false, "1,990/s"),
            ("completed<20k", true, "19,868 requests"),
            ("censored>0", true, "32 requests"),
            ("bytes>2MiB", true, ""),
            ("bytes.written>2MiB", false, ""),
        ] {
            let result = expression.parse::<Threshold>().unwrap().check(&report());
            assert!(result.decided, "{expression}: {}", result.text);
            assert_eq!(result.failed, failed, "{expression}: {}", result.text);
            assert!(result.text.contains(text), "{expression}: {}", result.text);
        }
    }

    #[test]
    fn what_cannot_be_decided_has_failed_and_says_why() {
        for (expression, decided, text) in [
            ("p99>70ms", false, "needs 368 requests"),
            ("p99<70ms", false, "needs 368 requests"),
            ("service.p90>2.5ms", false, "3 ms (between 2 ms and 5 ms, 95 % by rank): measure longer"),
            ("service.p90<4ms", false, "cannot be decided"),
            ("p99.9>1s", false, "at least 912 ms"),
            ("p999>500ms", true, "at least 912 ms"),
            ("max>1s", false, "32 requests never ended"),
            ("max>500ms", true, "at least 912 ms"),
            ("mean<2ms", false, "32 requests never ended"),
            ("service.p50>1ms", false, "was not measured"),
        ] {
            let result = expression.parse::<Threshold>().unwrap().check(&report());
            assert!(result.failed, "{expression}");
            assert_eq!(result.decided, decided, "{expression}: {}", result.text);
            assert!(result.text.contains(text), "{expression}: {}", result.text);
        }
    }

    #[test]
    fn mistakes_are_told_with_what_was_meant() {
        for (expression, parts) in [
            ("p99", &["no comparison", "p99>50ms"][..]),
            ("p98>1ms", &["no metric `p98`", "did you mean `p9"]),
            ("eror>1", &["did you mean `errors`"]),
            (
                "go.pool/pool_waits>5",
                &["`go.pool/pool_waits` is a counter", "by [[threshold]] of an experiment"],
            ),
            ("servce.p99>1ms", &["no kind of time `servce`", "did you mean `service`"]),
            ("service.rate>1", &["no metric `rate`"]),
            ("errors.timeot>1", &["no error class `timeot`", "`timeout`"]),
            ("p99>50", &["unit is missing", "p99>50ms"]),
            ("p99>", &["p99>50ms"]),
            ("errors>120%", &["no percentage", "errors>0.1%"]),
            ("errors>x%", &["no percentage"]),
            ("rate<-5", &["rate<10k"]),
            ("bytes>1XB", &["bytes>64MiB"]),
            (">1ms", &["no metric ``"]),
        ] {
            let error = expression.parse::<Threshold>().unwrap_err().to_string();
            for part in parts {
                assert!(error.contains(part), "{expression}: no `{part}` in {error}");
            }
        }
    }
}
