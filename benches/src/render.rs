//! Tables and sentences of a benchmark: text for the terminal, Markdown for `summary.md`. No arithmetic beyond units.

use crate::peer::{BASE, SELF};
use crate::row::Row;
use crate::summary::{CPU, Line, RATE, Ratio, Standing, Verdict, lines, ratio};
use comfy_table::{CellAlignment, Table, presets};

/// A server busier than this was the limit, and requests per second are its own, not the generator's.
const SERVER_BUSY_SHARE: f64 = 0.95;
/// More stolen CPU time than this is told (METHOD §9); the void gate of a run is higher.
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
pub(crate) fn main_table(rows: &[Row], cases: &[u32], peers: &[&str], form: Form) -> String {
    let to_base = format!("ratio to {} [95 %]", BASE.name);
    let header = ["peer", "conns", "requests/s", "CPU µs/req", to_base.as_str(), "memory", "server"];
    let body = lines(rows, cases, peers).into_iter().map(|line| {
        let to_base = match line.peer.as_str() {
            peer if peer == BASE.name && line.valid > 0 => "1".to_owned(),
            peer => ratio_cell(ratio(rows, line.connections, peer, BASE.name, CPU)),
        };
        line_cells(&line, to_base)
    });
    table(&header, body.collect(), form)
}

fn line_cells(line: &Line, to_base: String) -> Vec<String> {
    let none = || "–".to_owned();
    vec![
        line.peer.clone(),
        line.connections.to_string(),
        line.requests_per_s.map_or_else(none, thousands),
        line.cpu_us_per_request.map_or_else(none, |us| format!("{us:.2}")),
        to_base,
        line.peak_rss_bytes.map_or_else(none, |bytes| format!("{:.1} MiB", bytes / f64::from(1 << 20))),
        line.server_busy_share.map_or_else(none, |share| {
            format!("{:.0} %{}", share * 100.0, if share > SERVER_BUSY_SHARE { " !" } else { "" })
        }),
    ]
}

/// prony over each peer, for CPU time and for rate.
pub(crate) fn peer_table(rows: &[Row], cases: &[u32], peers: &[&str], form: Form) -> String {
    let header =
        ["prony over", "conns", "CPU per request [95 %]", "median", "requests/s [95 %]", "median", "pairs"];
    let others = || peers.iter().filter(|peer| **peer != SELF);
    let body = cases.iter().flat_map(|case| others().map(move |peer| (*case, *peer))).map(|(case, peer)| {
        let (cpu, rate) = (ratio(rows, case, SELF, peer, CPU), ratio(rows, case, SELF, peer, RATE));
        let median =
            |ratio: Option<Ratio>| ratio.map_or("–".to_owned(), |ratio| format!("{:.3}", ratio.median));
        vec![
            peer.to_owned(),
            case.to_string(),
            ratio_cell(cpu),
            median(cpu),
            ratio_cell(rate),
            median(rate),
            cpu.map_or(0, |cpu| cpu.pairs).to_string(),
        ]
    });
    table(&header, body.collect(), form)
}

fn table(header: &[&str], rows: Vec<Vec<String>>, form: Form) -> String {
    let mut table = Table::new();
    table.load_style(if form == Form::Markdown { presets::ASCII_MARKDOWN } else { presets::NOTHING });
    table.set_header(header).add_rows(rows);
    for column in table.column_iter_mut().skip(1) {
        column.set_cell_alignment(CellAlignment::Right);
    }
    table.lines().map(|line| format!("{}\n", line.trim_end())).collect()
}

fn ratio_cell(ratio: Option<Ratio>) -> String {
    match ratio {
        None => "–".to_owned(),
        Some(Ratio { mean, interval: Ok((low, high)), .. }) => format!("{mean:.3} [{low:.3}, {high:.3}]"),
        Some(Ratio { mean, interval: Err(_), .. }) => format!("{mean:.3} [none]"),
    }
}

/// A whole number with commas between thousands.
fn thousands(number: f64) -> String {
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

/// One sentence for each target.
pub(crate) fn verdict_lines(verdicts: &[Verdict]) -> Vec<String> {
    verdicts.iter().map(verdict_line).collect()
}

fn verdict_line(verdict: &Verdict) -> String {
    let target = verdict.target;
    let asked = format!(
        "CPU per request at most {:.2} of {}'s at {} connections",
        target.ratio_max, target.versus, verdict.connections
    );
    let Some(ratio) = verdict.ratio else {
        return format!("{asked}: unknown, no repeat has both runs valid");
    };
    let standing = match verdict.standing() {
        Standing::MissedBy(by) => format!("missed by {by:.3}"),
        Standing::Met | Standing::Unknown => "met".to_owned(),
    };
    let doubt = match ratio.interval {
        Err(refusal) => format!("; no interval: {refusal}"),
        Ok(_) if !verdict.is_certain() => {
            "; the interval reaches across the target, repeat more often".to_owned()
        }
        Ok(_) => String::new(),
    };
    format!("{asked}: {standing} ({}{doubt})", ratio_cell(Some(ratio)))
}

/// What weakens these rows: void runs, a server that was the limit, stolen time.
pub(crate) fn notes(rows: &[Row], cases: &[u32], peers: &[&str]) -> Vec<String> {
    let mut notes: Vec<String> = rows
        .iter()
        .filter(|row| !row.is_valid())
        .map(|row| {
            let Row { peer, connections, repeat, void, .. } = row;
            format!("void: {peer} at {connections} connections in repeat {}: {void}", repeat + 1)
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
    use crate::summary::{Target, verdicts};

    const TARGET: Target = Target { peer: "prony", versus: "wrk", ratio_max: 0.85 };

    fn rows() -> Vec<Row> {
        let mut rows = drifting(&[0.69, 0.70, 0.70, 0.71, 0.70]);
        rows.push(Row { server_busy_share: Some(0.99), ..row(0, "hey", 64, 32.0) });
        rows.push(Row { void: "status 503: 3".to_owned(), ..row(1, "hey", 64, 32.0) });
        rows[0].steal_share = Some(0.03);
        rows
    }

    #[test]
    fn the_main_table_fits_a_terminal() {
        let text = main_table(&rows(), &[64, 512], &["prony", "wrk", "hey"], Form::Text);
        assert!(text.lines().all(|line| line.chars().count() <= 100), "{text}");
        insta::assert_snapshot!(text, @r#"
peer   conns  requests/s  CPU µs/req   ratio to wrk [95 %]   memory  server
prony     64     142,857        7.00  0.700 [0.691, 0.709]  6.0 MiB    70 %
wrk       64     100,000       10.00                     1  6.0 MiB    70 %
hey       64      31,250       32.00          4.000 [none]  4.0 MiB  99 % !
prony    512           –           –                     –        –       –
wrk      512           –           –                     –        –       –
hey      512           –           –                     –        –       –
"#);
    }

    #[test]
    fn the_table_of_peers_is_markdown_in_the_file() {
        insta::assert_snapshot!(peer_table(&rows(), &[64], &["prony", "wrk", "hey"], Form::Markdown), @r#"
| prony over | conns | CPU per request [95 %] | median |    requests/s [95 %] | median | pairs |
|------------|-------|------------------------|--------|----------------------|--------|-------|
| wrk        |    64 |   0.700 [0.691, 0.709] |  0.700 | 1.429 [1.411, 1.447] |  1.429 |     5 |
| hey        |    64 |           0.172 [none] |  0.172 |         5.797 [none] |  5.797 |     1 |
"#);
    }

    #[test]
    fn targets_and_notes_are_sentences() {
        let mut lines = verdict_lines(&verdicts(&rows(), &[64, 512], &[TARGET]));
        lines.extend(verdict_lines(&verdicts(&drifting(&[0.9, 0.9, 0.8]), &[64], &[TARGET])));
        lines.extend(verdict_lines(&verdicts(&drifting(&[0.7, 1.0, 0.8, 0.9, 0.9]), &[64], &[TARGET])));
        lines.extend(notes(&rows(), &[64], &["prony", "wrk", "hey"]));
        insta::assert_snapshot!(lines.join("\n"), @r#"
CPU per request at most 0.85 of wrk's at 64 connections: met (0.700 [0.691, 0.709])
CPU per request at most 0.85 of wrk's at 512 connections: unknown, no repeat has both runs valid
CPU per request at most 0.85 of wrk's at 64 connections: missed by 0.015 (0.865 [none]; no interval: 5 values needed, had 3: measure more often)
CPU per request at most 0.85 of wrk's at 64 connections: missed by 0.004 (0.854 [0.721, 1.011]; the interval reaches across the target, repeat more often)
void: hey at 64 connections in repeat 2: status 503: 3
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
