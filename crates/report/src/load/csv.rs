//! CSV of one load: its result in one row, or one row for each of its intervals.
//!
//! Headers are part of the format: columns may be added at the end of a group, never renamed. Numbers are raw, with
//! the unit last in the name (nanoseconds, bytes, shares from 0 to 1); an empty field is a value that was refused.

use super::messages::NAMES;
use crate::{ReportError, clean};
use schema::load::{ErrorClass, LatencySummary, LoadReport, MessageSummary};
use schema::trial::{IntervalLine, MessageInterval, Phase};
use std::collections::BTreeMap;

/// A column: its name and its field.
type Column = (String, String);

/// The result as a header and one row, by RFC 4180 with `\n` line ends.
///
/// Columns: the plan (`url`, `method`, `path`, `model`, `connections`, `workers`, `rate_asked_per_s`, `duration_ns`), the
/// accounts (`*_requests`), `throughput_per_s`, `error_rate_share`, failures by class (`errors_CLASS`), answers by kind of
/// status (`status_Nxx`), bytes, connections, every kind of time (`TIME_mean_ns` to `TIME_max_ns`), the generator,
/// `valid` with its `reasons`, and the ledger of messages on streams (`*_messages`, `message_*`), empty where none streams.
///
/// # Errors
/// [`ReportError::Csv`] where the writer fails.
pub fn load_csv(report: &LoadReport) -> Result<String, ReportError> {
    let columns: Vec<Column> =
        [plan(report), accounts(report), times(report), rest(report), messages(report)].concat();
    let (names, fields): (Vec<_>, Vec<_>) = columns.into_iter().unzip();
    write([names, fields].into_iter())
}

/// One row for each interval, in order of time.
///
/// Columns: `start_ns` and `end_ns` from the load's origin, `phase`, the counts of the interval, `throughput_per_s`, what
/// waited and was in flight at its end, `p50_ns` and `p99_ns` of response time, failures by class, answers by status,
/// messages on streams.
///
/// # Errors
/// [`ReportError::Csv`] where the writer fails.
pub fn series_csv(intervals: &[IntervalLine]) -> Result<String, ReportError> {
    let header = interval(&IntervalLine::default()).into_iter().map(|(name, _)| name).collect();
    let rows = intervals.iter().map(|line| interval(line).into_iter().map(|(_, field)| field).collect());
    write(std::iter::once(header).chain(rows))
}

fn write(rows: impl Iterator<Item = Vec<String>>) -> Result<String, ReportError> {
    let mut writer = ::csv::Writer::from_writer(Vec::new());
    for row in rows {
        writer.write_record(row)?;
    }
    let bytes = writer.into_inner().map_err(|error| ::csv::Error::from(error.into_error()))?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

fn plan(report: &LoadReport) -> Vec<Column> {
    let (plan, load) = (&report.plan, &report.plan.load);
    vec![
        text("url", &plan.url),
        text("scenario", &plan.scenario.name),
        text("method", plan.scenario.first().map_or("", |entry| &entry.request.method)),
        text("path", plan.scenario.first().map_or("", |entry| &entry.request.path)),
        text("model", crate::words::model(load.model)),
        number("connections", load.connections),
        number("workers", load.workers),
        optional("rate_asked_per_s", load.rate_per_s.filter(|rate| rate.is_finite())),
        number("duration_ns", report.window.duration_ns),
    ]
}

fn accounts(report: &LoadReport) -> Vec<Column> {
    let requests = &report.requests;
    let ended = requests.completed.saturating_add(requests.failed);
    let error_rate = (ended > 0).then(|| requests.failed as f64 / ended as f64);
    let mut columns = vec![
        number("scheduled_requests", requests.scheduled),
        number("completed_requests", requests.completed),
        number("failed_requests", requests.failed),
        number("censored_requests", requests.censored),
        optional("throughput_per_s", Some(report.throughput_per_s).filter(|rate| rate.is_finite())),
        optional("error_rate_share", error_rate),
    ];
    columns.extend(by_class(&report.errors));
    columns.extend(by_status(&report.status));
    columns.extend([
        number("redirects", report.redirects.values().sum::<u64>()),
        number("read_bytes", report.bytes.read),
        number("written_bytes", report.bytes.written),
        number("connections_established", report.connections.established),
        number("reconnects", report.connections.reconnects),
    ]);
    columns
}

fn times(report: &LoadReport) -> Vec<Column> {
    let times = report.latency_ns.all().into_iter().flat_map(|(kind, summary)| time(kind, summary));
    times.chain(intervals("response", &report.latency_ns.response)).collect()
}

/// The ends of the percentiles' intervals; an end that is missing is empty.
fn intervals(kind: &str, summary: &LatencySummary) -> Vec<Column> {
    let ends = |key: &str| {
        let interval = summary.intervals.get(key).copied().unwrap_or_default();
        [("low", interval.low), ("high", interval.high)]
            .map(|(end, ns)| optional(&format!("{kind}_{key}_{end}_ns"), ns))
    };
    ["p50", "p90", "p95", "p99", "p999"].into_iter().flat_map(ends).collect()
}

fn time(kind: &str, summary: &LatencySummary) -> Vec<Column> {
    let mean = optional(&format!("{kind}_mean_ns"), summary.mean.filter(|mean| mean.is_finite()));
    let &LatencySummary { min, p50, p90, p95, p99, p999, max, .. } = summary;
    let names = ["min", "p50", "p90", "p95", "p99", "p999", "max"];
    let whole = names.into_iter().zip([min, p50, p90, p95, p99, p999, max]);
    std::iter::once(mean).chain(whole.map(|(name, ns)| optional(&format!("{kind}_{name}_ns"), ns))).collect()
}

fn rest(report: &LoadReport) -> Vec<Column> {
    let reasons: Vec<&str> = report.validity.reasons.iter().map(|gate| gate.text.text()).collect();
    let crossed: Vec<&str> = report
        .thresholds
        .iter()
        .filter(|limit| limit.failed)
        .map(|limit| limit.expression.as_str())
        .collect();
    vec![
        optional("generator_cpu_s", Some(report.generator.cpu_s).filter(|cpu| cpu.is_finite())),
        optional("generator_busy_share", Some(report.generator.busy_share).filter(|busy| busy.is_finite())),
        number("valid", report.validity.ok),
        text("reasons", &reasons.join("; ")),
        text("thresholds_crossed", &crossed.join("; ")),
    ]
}

/// The ledger of messages, and their times.
fn messages(report: &LoadReport) -> Vec<Column> {
    let messages = report.messages.as_ref();
    let count = |name: &str, read: fn(&MessageSummary) -> u64| optional(name, messages.map(read));
    let rate = |name: &str, read: fn(&MessageSummary) -> f64| {
        optional(name, messages.map(read).filter(|rate| rate.is_finite()))
    };
    let mut columns = vec![
        count("scheduled_messages", |messages| messages.scheduled),
        count("completed_messages", |messages| messages.completed),
        count("failed_messages", |messages| messages.failed),
        count("unanswered_messages", |messages| messages.unanswered),
        count("censored_messages", |messages| messages.censored),
        count("queued_messages", |messages| messages.queued),
        count("received_messages", |messages| messages.received),
        count("unasked_messages", |messages| messages.unasked),
        rate("completed_messages_per_s", |messages| messages.completed_per_s),
        rate("received_messages_per_s", |messages| messages.received_per_s),
        optional("messages_per_stream", messages.and_then(|messages| Some(messages.per_stream?.mean))),
    ];
    let none = LatencySummary::default();
    let times = NAMES.into_iter().flat_map(|(of, name)| {
        time(&name.replace(' ', "_"), messages.map_or(&none, |messages| messages.of(of)))
    });
    columns.extend(times);
    columns
}

fn interval(line: &IntervalLine) -> Vec<Column> {
    let length_ns = line.end_ns.saturating_sub(line.start_ns);
    let rate = (length_ns > 0).then(|| line.completed as f64 * 1e9 / length_ns as f64);
    let phase = match line.phase {
        Some(Phase::Warmup) => "warmup",
        Some(Phase::Sample) => "sample",
        Some(Phase::Drain) => "drain",
        None => "",
    };
    let mut columns = vec![
        number("start_ns", line.start_ns),
        number("end_ns", line.end_ns),
        text("phase", phase),
        number("scheduled_requests", line.scheduled),
        number("completed_requests", line.completed),
        number("failed_requests", line.failed.values().sum::<u64>()),
        optional("throughput_per_s", rate),
        number("backlog_requests", line.backlog),
        number("in_flight_requests", line.in_flight),
        optional("p50_ns", line.p50_ns),
        optional("p99_ns", line.p99_ns),
        number("read_bytes", line.read_bytes),
        number("written_bytes", line.written_bytes),
        number("connects", line.connects),
        number("generator_cpu_ns", line.generator_cpu_ns),
    ];
    columns.extend(by_class(&line.failed));
    columns.extend(by_status(&line.status));
    columns.push(number("redirects", line.redirects.values().sum::<u64>()));
    let messages = line.messages.as_ref();
    let count = |name: &str, read: fn(&MessageInterval) -> u64| optional(name, messages.map(read));
    columns.extend([
        count("scheduled_messages", |messages| messages.scheduled),
        count("completed_messages", |messages| messages.completed),
        count("failed_messages", |messages| messages.failed),
        count("censored_messages", |messages| messages.censored),
        count("received_messages", |messages| messages.received),
        optional("first_message_p50_ns", messages.and_then(|messages| messages.first_message_p50_ns)),
        optional("message_gap_p99_ns", messages.and_then(|messages| messages.gap_p99_ns)),
    ]);
    columns
}

fn by_class(errors: &BTreeMap<ErrorClass, u64>) -> impl Iterator<Item = Column> {
    let count = |class: ErrorClass| errors.get(&class).copied().unwrap_or_default();
    ErrorClass::ALL.into_iter().map(move |class| number(&format!("errors_{}", class.key()), count(class)))
}

/// Codes are many, kinds of codes are five.
fn by_status(status: &BTreeMap<u16, u64>) -> impl Iterator<Item = Column> {
    let count = |kind: u16| status.range(kind * 100..kind * 100 + 100).map(|(_, n)| n).sum::<u64>();
    (1..=5).map(move |kind| number(&format!("status_{kind}xx"), count(kind)))
}

fn text(name: &str, value: &str) -> Column {
    (name.to_owned(), clean::csv_field(value))
}

fn number(name: &str, value: impl ToString) -> Column {
    (name.to_owned(), value.to_string())
}

fn optional(name: &str, value: Option<impl ToString>) -> Column {
    (name.to_owned(), value.map_or_else(String::new, |value| value.to_string()))
}
