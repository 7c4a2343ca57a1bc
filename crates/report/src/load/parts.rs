//! What a scenario adds to a load: tables by named request, of sessions, tokens and failed answers; one home for the
//! terminal, Markdown and HTML.

use crate::load::notable;
pub(crate) use crate::load::part::Part;
use crate::load::part::{number, words};
use crate::load::words::{Field, quantile, short_fields};
use crate::words::Footnotes;
use crate::{clean, format};
use schema::agents::AgentReport;
use schema::load::{FailedAnswer, LatencySummary, LoadReport, RequestSummary, TokenKind};
use std::collections::BTreeMap;

/// Characters shown of a failed answer's body.
const BODY_CHARS: usize = 80;

/// The tables of a load, without the empty ones.
pub(crate) fn parts(report: &LoadReport, notes: &mut Footnotes) -> Vec<Part> {
    let parts = [
        requests(report, notes),
        sessions(report, notes),
        tokens(report),
        failed_answers(report),
        agents(report, notes),
    ];
    parts.into_iter().chain(notable::tables(report)).filter(|part| !part.rows.is_empty()).collect()
}

/// The quantiles that tell requests apart in few columns.
fn fields() -> impl Iterator<Item = Field> {
    short_fields().into_iter().filter(|field| ["p50", "p99", "max"].contains(&field.0))
}

fn times(name: &str, summary: &LatencySummary, notes: &mut Footnotes) -> Vec<String> {
    fields().map(|field| quantile(name, summary, field, notes)).collect()
}

fn requests(report: &LoadReport, notes: &mut Footnotes) -> Part {
    let mut columns = vec![words("request"), number("share"), number("completed"), number("failed")];
    columns.extend(fields().map(|field| number(field.0)));
    let row = |entry: &RequestSummary, notes: &mut Footnotes| {
        let requests = &entry.requests;
        let name = clean::cut(&clean::line(&entry.name), 40);
        let times = times(&name, &entry.response, notes);
        let mut row = vec![
            name,
            format::percent(entry.share),
            format::count(requests.completed),
            format::count(requests.failed),
        ];
        row.extend(times);
        row
    };
    let rows = report.by_request.iter().map(|entry| row(entry, notes)).collect();
    Part { title: "by request", columns, rows }
}

fn sessions(report: &LoadReport, notes: &mut Footnotes) -> Part {
    let mut columns = vec![words("sessions"), number("completed"), number("failed"), number("censored")];
    columns.extend(fields().map(|field| number(field.0)));
    let rows = report.sessions.iter().map(|sessions| {
        let mut row = vec![
            format!("{} started", format::count(sessions.started)),
            format::count(sessions.completed),
            format::count(sessions.failed),
            format::count(sessions.censored),
        ];
        row.extend(times("sessions", &sessions.time, notes));
        row
    });
    Part { title: "sessions", rows: rows.collect(), columns }
}

fn tokens(report: &LoadReport) -> Part {
    let kind = |kind: TokenKind| match kind {
        TokenKind::Valid => "valid",
        TokenKind::Expired => "expired",
        TokenKind::BadlySigned => "badly signed",
    };
    let rows = report.tokens.iter().map(|token| {
        vec![format!("{} {}", clean::line(&token.name), kind(token.kind)), statuses(&token.status)]
    });
    Part { title: "tokens", columns: vec![words("token"), words("answers")], rows: rows.collect() }
}

/// What each agent of a fleet did. A clock is known as well as its bound says.
fn agents(report: &LoadReport, notes: &mut Footnotes) -> Part {
    let time = |ns: Option<u64>| ns.map_or_else(|| "-".to_owned(), |ns| format::duration(ns as f64));
    let mut clock = |agent: &AgentReport| {
        let note = agent.facts.kernel_clock.and_then(|clock| clock.note());
        let sign = note.map_or_else(String::new, |note| notes.sign(&note));
        format!("±{}{sign}", format::duration(agent.clock.bound_ns as f64))
    };
    let row = |agent: &AgentReport| {
        vec![
            clean::cut(&clean::line(&agent.name), 24),
            clean::cut(&clean::line(&agent.facts.host), 24),
            agent.workers.to_string(),
            format::count(agent.completed),
            format::count(agent.failed),
            agent.delivered.map_or_else(|| "-".to_owned(), format::percent),
            time(agent.response_p50_ns),
            time(agent.response_p99_ns),
            time(agent.pacer_lag_p99_ns),
            clock(agent),
        ]
    };
    let columns = vec![
        words("agent"),
        words("host"),
        number("workers"),
        number("completed"),
        number("failed"),
        number("of its share"),
        number("p50"),
        number("p99"),
        number("lag p99"),
        number("clock"),
    ];
    let agents = report.fleet.iter().flat_map(|fleet| &fleet.agents);
    Part { title: "agents", columns, rows: agents.map(row).collect() }
}

fn statuses(status: &BTreeMap<u16, u64>) -> String {
    let parts: Vec<String> =
        status.iter().map(|(code, n)| format!("{code} × {}", format::count(*n))).collect();
    parts.join(", ")
}

fn failed_answers(report: &LoadReport) -> Part {
    let row = |answer: &FailedAnswer| {
        vec![
            clean::cut(&clean::line(&answer.request), 40),
            clean::cut(&clean::line(&answer.check), 60),
            answer.status.to_string(),
            clean::cut(&clean::line(&answer.body), BODY_CHARS),
        ]
    };
    Part {
        title: "first failed answers",
        columns: vec![words("request"), words("failed check"), number("status"), words("body")],
        rows: report.failed_answers.iter().map(row).collect(),
    }
}
