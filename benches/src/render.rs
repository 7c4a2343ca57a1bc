//! Tables and sentences of a benchmark: text for the terminal, Markdown for `summary.md`. No arithmetic beyond units.

use crate::peer::{BASE, SELF};
use crate::row::Row;
use crate::summary::{CPU, Line, RATE, Ratio, lines, pace_lines, ratio};
use comfy_table::{CellAlignment, Table, presets};

/// A server busier than this was the limit, and requests per second are its own, not the generator's.
pub(crate) const SERVER_BUSY_SHARE: f64 = 0.95;
/// More stolen CPU time than this is reported (METHOD §9); the void gate of a run is higher.
const STEAL_SHARE: f64 = 0.01;

/// Which form a table has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Form {
    /// For a terminal of 80 columns.
    Text,
    /// For a file.
    Markdown,
}

/// One line a case and peer.
pub(crate) fn main_table(rows: &[Row], cases: &[&str], peers: &[&str], form: Form) -> String {
    let to_base = format!("ratio to {} [95 %]", BASE.name);
    let header = ["case", "peer", "requests/s", "CPU µs/req", to_base.as_str(), "memory", "server"];
    let body = lines(rows, cases, peers).into_iter().map(|line| {
        let to_base = match line.peer.as_str() {
            peer if peer == BASE.name && line.valid > 0 => "1".to_owned(),
            peer => ratio_cell(ratio(rows, &line.case, peer, BASE.name, CPU)),
        };
        line_cells(&line, to_base)
    });
    table(&header, body.collect(), form)
}

fn line_cells(line: &Line, to_base: String) -> Vec<String> {
    let none = || "–".to_owned();
    vec![
        line.case.clone(),
        line.peer.clone(),
        line.requests_per_s.map_or_else(none, thousands),
        line.cpu_us_per_request.map_or_else(none, |us| format!("{us:.2}")),
        to_base,
        line.peak_rss_bytes.map_or_else(none, |bytes| format!("{:.1} MiB", bytes / f64::from(1 << 20))),
        line.server_busy_share.map_or_else(none, |share| {
            format!("{:.0} %{}", share * 100.0, if share > SERVER_BUSY_SHARE { " !" } else { "" })
        }),
    ]
}

/// One line a case with a rate and peer: how evenly requests arrived.
pub(crate) fn pace_table(rows: &[Row], cases: &[&str], peers: &[&str], form: Form) -> String {
    let header =
        ["case", "peer", "arrivals/s", "gap error p50", "p99", "service p50", "in server", "CPU µs/req"];
    let body = pace_lines(rows, cases, peers).into_iter().map(|line| {
        vec![
            line.case,
            line.peer,
            thousands(line.arrivals_per_s),
            micros(line.gap_error_p50_ns),
            micros(line.gap_error_p99_ns),
            line.service_p50_ns.map_or("–".to_owned(), micros),
            micros(line.residence_p50_ns),
            line.cpu_us_per_request.map_or("–".to_owned(), |us| format!("{us:.2}")),
        ]
    });
    table(&header, body.collect(), form)
}

/// Nanoseconds as microseconds with two digits.
pub(crate) fn micros(ns: f64) -> String {
    format!("{:.2} µs", ns / 1e3)
}

/// prony over each peer, for CPU time and for rate.
pub(crate) fn peer_table(rows: &[Row], cases: &[&str], peers: &[&str], form: Form) -> String {
    let header =
        ["case", "prony over", "CPU per request [95 %]", "median", "requests/s [95 %]", "median", "pairs"];
    let others = || peers.iter().filter(|peer| **peer != SELF);
    let pairs = cases.iter().flat_map(|case| others().map(move |peer| (*case, *peer)));
    let body = pairs.filter_map(|(case, peer)| {
        let (cpu, rate) = (ratio(rows, case, SELF, peer, CPU)?, ratio(rows, case, SELF, peer, RATE)?);
        Some(vec![
            case.to_owned(),
            peer.to_owned(),
            ratio_cell(Some(cpu)),
            format!("{:.3}", cpu.median),
            ratio_cell(Some(rate)),
            format!("{:.3}", rate.median),
            cpu.pairs.to_string(),
        ])
    });
    table(&header, body.collect(), form)
}

fn table(header: &[&str], rows: Vec<Vec<String>>, form: Form) -> String {
    let mut table = Table::new();
    table.load_style(if form == Form::Markdown { presets::ASCII_MARKDOWN } else { presets::NOTHING });
    table.set_header(header).add_rows(rows);
    for column in table.column_iter_mut().skip(2) {
        column.set_cell_alignment(CellAlignment::Right);
    }
    table.lines().map(|line| format!("{}\n", line.trim_end())).collect()
}

pub(crate) fn ratio_cell(ratio: Option<Ratio>) -> String {
    match ratio {
        None => "–".to_owned(),
        Some(Ratio { mean, interval: Ok((low, high)), .. }) => format!("{mean:.3} [{low:.3}, {high:.3}]"),
        Some(Ratio { mean, interval: Err(_), .. }) => format!("{mean:.3} [none]"),
    }
}

/// A whole number with commas between thousands.
pub(crate) fn thousands(number: f64) -> String {
    let digits = format!("{number:.0}");
    let mut out = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

/// What weakens these rows: void runs, a server that was the limit, stolen time.
pub(crate) fn notes(rows: &[Row], cases: &[&str], peers: &[&str]) -> Vec<String> {
    let mut notes: Vec<String> = rows
        .iter()
        .filter(|row| !row.is_valid())
        .map(|row| {
            let Row { peer, case, repeat, void, .. } = row;
            format!("void: {peer} in {case}, repeat {}: {void}", repeat + 1)
        })
        .collect();
    let limited = lines(rows, cases, peers);
    if limited.iter().any(|line| line.server_busy_share.is_some_and(|share| share > SERVER_BUSY_SHARE)) {
        notes.push(
            "requests/s marked with ! beside the server's share are the server's limit, not the generator's; \
             CPU per request stands"
                .to_owned(),
        );
    }
    notes.extend(steal_note(rows));
    notes
}

/// A note on how many runs had more stolen time than METHOD §9 lets pass without a word, and the most.
fn steal_note(rows: &[Row]) -> Option<String> {
    let over: Vec<f64> =
        rows.iter().filter_map(|row| row.steal_share).filter(|share| *share > STEAL_SHARE).collect();
    let most = over.iter().copied().fold(0.0, f64::max);
    (!over.is_empty()).then(|| {
        format!(
            "in {} of {} runs more than {:.0} % of the host's CPU time was taken by the hypervisor (up to {:.0} %): \
             repeat on a quiet machine",
            over.len(),
            rows.len(),
            STEAL_SHARE * 100.0,
            most * 100.0
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::summary::tests::{drifting, row};

    fn rows() -> Vec<Row> {
        let mut rows = drifting(&[0.69, 0.70, 0.70, 0.71, 0.70]);
        rows.push(Row { server_busy_share: Some(0.99), ..row(0, "hey", 64, 32.0) });
        rows.push(Row { void: "status 503: 3".to_owned(), ..row(1, "hey", 64, 32.0) });
        rows[0].steal_share = Some(0.03);
        rows
    }

    #[test]
    fn the_main_table_fits_a_terminal() {
        let text = main_table(&rows(), &["closed-64", "closed-512"], &["prony", "wrk", "hey"], Form::Text);
        assert!(text.lines().all(|line| line.chars().count() <= 100), "{text}");
        insta::assert_snapshot!(text, @r#"
case       peer   requests/s  CPU µs/req   ratio to wrk [95 %]   memory  server
closed-64  prony     142,857        7.00  0.700 [0.691, 0.709]  6.0 MiB    70 %
closed-64  wrk       100,000       10.00                     1  6.0 MiB    70 %
closed-64  hey        31,250       32.00          4.000 [none]  4.0 MiB  99 % !
"#);
    }

    #[test]
    fn the_table_of_peers_is_markdown_in_the_file() {
        let table = peer_table(&rows(), &["closed-64"], &["prony", "wrk", "hey"], Form::Markdown);
        insta::assert_snapshot!(table, @r#"
| case      | prony over | CPU per request [95 %] | median |    requests/s [95 %] | median | pairs |
|-----------|------------|------------------------|--------|----------------------|--------|-------|
| closed-64 | wrk        |   0.700 [0.691, 0.709] |  0.700 | 1.429 [1.411, 1.447] |  1.429 |     5 |
| closed-64 | hey        |           0.172 [none] |  0.172 |         5.797 [none] |  5.797 |     1 |
"#);
    }

    #[test]
    fn the_table_of_arrivals_has_microseconds() {
        let row = Row {
            case: "rate-10k".to_owned(),
            arrivals_per_s: Some(9_999.6),
            gap_error_p50_ns: Some(1_240),
            gap_error_p99_ns: Some(20_000),
            residence_p50_ns: Some(650),
            service_p50_ns: Some(21_500),
            ..row(0, "prony", 16, 9.0)
        };
        insta::assert_snapshot!(pace_table(&[row], &["rate-10k"], &["prony"], Form::Text), @r#"
case      peer   arrivals/s  gap error p50       p99  service p50  in server  CPU µs/req
rate-10k  prony      10,000        1.24 µs  20.00 µs     21.50 µs    0.65 µs        9.00
"#);
    }

    #[test]
    fn notes_are_sentences() {
        let lines = notes(&rows(), &["closed-64"], &["prony", "wrk", "hey"]);
        insta::assert_snapshot!(lines.join("\n"), @r#"
void: hey in closed-64, repeat 2: status 503: 3
requests/s marked with ! beside the server's share are the server's limit, not the generator's; CPU per request stands
in 1 of 12 runs more than 1 % of the host's CPU time was taken by the hypervisor (up to 3 %): repeat on a quiet machine
"#);
    }

    #[test]
    fn thousands_have_commas() {
        for (number, wanted) in [(0.0, "0"), (999.0, "999"), (1000.0, "1,000"), (1_234_567.4, "1,234,567")] {
            assert_eq!(thousands(number), wanted);
        }
    }
}
