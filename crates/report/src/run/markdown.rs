//! `report.md`: the whole report without charts, in GitHub's dialect, for pull requests: what must be seen first, and
//! the rest folded away.
//!
//! Invariants: the first part is short however large the run was; names stand in code spans and sentences are escaped, so that nothing in them acts as Markdown or
//! HTML, so nothing in them can end the folded part either.

use crate::clean::{markdown as prose, markdown_block, markdown_code as code};
use crate::run::agents;
use crate::run::capacity::{self, CapacityView};
use crate::run::effects::{self, EffectView};
use crate::run::events::{ABOUT, EventView, HEADER};
use crate::run::layers::{self, LayerRow, LayersView};
use crate::run::levels::{self, LevelView};
use crate::run::limits;
use crate::run::memory::MemoryLine;
use crate::run::messages;
use crate::run::page::{CellView, KEY_METRICS, Page, PairView, TrialView};
use crate::run::ranking::{COLUMNS, RankView, RankedValue};
use crate::run::requests::{self, RequestsView};
use crate::run::settings::Row;
use crate::run::shift;
use crate::run::soak::{self, TrendView};
use crate::run::spans::{self, SpanRow, SpansView};
use crate::run::usual;
use crate::words::{Footnotes, Word};
use schema::analysis::AnalysisFile;
use schema::metric::Metric;
use schema::run::RunFile;

/// Pairs of targets whose main metrics are shown before the fold.
const PAIRS_FIRST: usize = 8;
/// Reservations shown there.
const NOTES_FIRST: usize = 3;
/// The metrics of those pairs.
const METRICS_FIRST: [Metric; 3] = [Metric::Throughput, Metric::P50, Metric::P99];

/// The report as Markdown.
#[must_use]
pub fn markdown(run: &RunFile, analysis: &AnalysisFile) -> String {
    let page = Page::new(run, analysis);
    let first = [
        opening(&page),
        ranking(&page),
        belief_first(&page),
        claims(&page),
        thresholds(&page),
        comparisons_first(&page),
    ];
    let folded = [
        soak(&page),
        belief(&page),
        comparisons(&page),
        capacity(&page),
        shifts(&page),
        effects(&page),
        layers(&page),
        cells(&page),
        levels(&page),
        memory(&page),
        limits(&page),
        findings(&page),
        events(&page),
        trials(&page),
        environment(&page),
        reproduce(&page),
    ];
    format!(
        "{}\n<details>\n<summary>All metrics, trials, environment, how to reproduce</summary>\n\n{}\n</details>\n",
        joined(first),
        joined(folded)
    )
}

fn joined<const N: usize>(sections: [String; N]) -> String {
    sections.into_iter().filter(|text| !text.is_empty()).collect::<Vec<_>>().join("\n")
}

fn opening(page: &Page) -> String {
    format!(
        "# {}\n\n**{}**\n\nRun {}, started {}.\n",
        prose(&page.question),
        prose(&page.answer),
        code(&page.run),
        prose(&page.started)
    )
}

/// One table a load, best first, with bars.
fn ranking(page: &Page) -> String {
    let header: Vec<&str> = ["", ""].into_iter().chain(COLUMNS.map(|(name, _)| name)).collect();
    let row = |row: &RankView| {
        let value = |value: &RankedValue| match value.half_width.as_str() {
            "" => format!("{}{}", value.center, value.note),
            width => format!("{} {width}{}", value.center, value.note),
        };
        [code(&row.name), row.bar.clone()].into_iter().chain(row.values.iter().map(value)).collect()
    };
    let mut text = String::new();
    for load in page.ranking.loads.iter().filter(|load| !load.rows.is_empty()) {
        let name = if load.name.is_empty() { String::new() } else { format!(", {}", prose(&load.name)) };
        text += &format!("Ranking {}{name}:\n\n", page.ranking.order);
        text += &table(&header, "llrrrrrr", load.rows.iter().map(row));
        text.push('\n');
    }
    text.trim_end().to_owned() + "\n" + &footnotes(&page.ranking.notes)
}

fn belief(page: &Page) -> String {
    let belief = &page.belief;
    let mut text = format!(
        "## Can these numbers be believed?\n\n**{}.** {}\n",
        belief.level.both(),
        prose(&belief.summary)
    );
    for (index, note) in belief.notes.iter().enumerate() {
        let gap = if index == 0 { "\n" } else { "" };
        let remedy = note.remedy.as_ref().map_or_else(String::new, |remedy| format!(" → {}", prose(remedy)));
        text += &format!("{gap}- {} {}{remedy}\n", note.level.sign, prose(&note.text));
    }
    text + &format!("\nInstrument: {}.\n", prose(&page.instrument))
}

/// Whether to believe it, and the worst that speaks against it.
fn belief_first(page: &Page) -> String {
    let belief = &page.belief;
    let against: Vec<_> = belief.notes.iter().filter(|note| note.is_against).collect();
    let mut text = format!("{} {}\n", belief_level(page), prose(&belief.summary));
    for (index, note) in against.iter().take(NOTES_FIRST).enumerate() {
        let gap = if index == 0 { "\n" } else { "" };
        text += &format!("{gap}- {} {}\n", note.level.sign, prose(&note.text));
    }
    if against.len() > NOTES_FIRST {
        text += &format!("- {} more below\n", against.len() - NOTES_FIRST);
    }
    text
}

fn belief_level(page: &Page) -> String {
    format!("**Can these numbers be believed? {}.**", page.belief.level.both())
}

/// The metrics that matter most, of the first pairs.
fn comparisons_first(page: &Page) -> String {
    if page.pairs.is_empty() {
        return String::new();
    }
    let mut rows = Vec::new();
    for pair in page.pairs.iter().take(PAIRS_FIRST) {
        let mut name = format!("{} against {}{}", code(&pair.a), code(&pair.b), prose(&pair.load));
        let shown = pair.rows.iter().filter(|row| METRICS_FIRST.contains(&row.metric));
        for row in shown.take(METRICS_FIRST.len()) {
            rows.push(vec![
                std::mem::take(&mut name),
                row.name.to_owned(),
                row.change.clone(),
                row.interval.clone(),
                verdict(row.verdict),
            ]);
        }
    }
    let more = page.pairs.len().saturating_sub(PAIRS_FIRST);
    let more = if more > 0 { format!("\n{more} more pairs are below.\n") } else { String::new() };
    let interval = format!("{} interval", page.confidence);
    let header = ["", "Metric", "Change", &interval, "Verdict"];
    format!("## Comparison\n\n{}{more}", table(&header, "llrrl", rows.into_iter()))
}

fn soak(page: &Page) -> String {
    let Some(soak) = &page.soak else { return String::new() };
    let row = |trend: &TrendView| {
        let values = trend.values.iter().map(|value| prose(value).replace('<', "\\<"));
        [trend.name.to_owned(), verdict(trend.class)]
            .into_iter()
            .chain(values)
            .chain([prose(&trend.text)])
            .collect()
    };
    let mut header = vec!["Counter", "Class"];
    header.extend(soak::HEADER);
    header.push("Evidence");
    let table = table(&header, "llrrrrrl", soak.trends.iter().map(row));
    let mut text = format!("## Soak\n\n{}. {}\n\n{table}", prose(&soak.about), soak::ABOUT);
    for (index, note) in soak.notes.iter().enumerate() {
        text += &format!("{}- {}\n", if index == 0 { "\n" } else { "" }, prose(note));
    }
    text
}

fn claims(page: &Page) -> String {
    if page.claims.is_empty() {
        return String::new();
    }
    let rows = page.claims.iter().map(|claim| {
        let ratio = claim.ratio.as_ref().map_or_else(String::new, |ratio| format!(" — {}", prose(ratio)));
        vec![verdict(claim.verdict), prose(&claim.text), format!("{}{ratio}", prose(&claim.evidence))]
    });
    format!("## Claims\n\n{}", table(&["Verdict", "Claim", "Evidence"], "lll", rows))
}

fn thresholds(page: &Page) -> String {
    if page.thresholds.is_empty() {
        return String::new();
    }
    let rows =
        page.thresholds.iter().map(|one| vec![verdict(one.verdict), prose(&one.text), prose(&one.evidence)]);
    format!(
        "## Thresholds\n\nOne trial or window that crosses a threshold is enough.\n\n{}",
        table(&["Verdict", "Threshold", "Evidence"], "lll", rows)
    )
}

fn comparisons(page: &Page) -> String {
    if page.pairs.is_empty() {
        return String::new();
    }
    let tables: Vec<_> = page.pairs.iter().map(pair).collect();
    format!(
        "## Comparison in all metrics\n\nChange of the first against the second with its {} interval over blocks; \
         a change within {} counts as equal. {}\n\n{}{}",
        page.confidence,
        page.margin,
        prose(&page.family),
        tables.join("\n"),
        footnotes(&page.pair_notes)
    )
}

fn pair(pair: &PairView) -> String {
    let header = [
        "Metric",
        "Change",
        "Interval",
        "Verdict",
        "Rank check (Hodges–Lehmann)",
        "Ratio of means (Fieller)",
        "Bootstrap",
        "p (family)",
        "Blocks",
    ];
    let rows = pair.rows.iter().map(|row| {
        vec![
            row.name.to_owned(),
            row.change.clone(),
            row.interval.clone(),
            format!("{}{}", verdict(row.verdict), row.note),
            row.rank_check.clone(),
            row.means.clone(),
            row.bootstrap.clone(),
            row.p.replace('<', "\\<"),
            row.blocks.to_string(),
        ]
    });
    format!(
        "### {} against {}{}\n\n{}",
        code(&pair.a),
        code(&pair.b),
        prose(&pair.load),
        table(&header, "lrrlrrrrr", rows)
    )
}

fn capacity(page: &Page) -> String {
    if page.capacity.is_empty() {
        return String::new();
    }
    let ladders: Vec<_> = page.capacity.iter().map(ladder).collect();
    format!("## Capacity\n\n{}\n\n{}", capacity::ABOUT, ladders.join("\n"))
}

fn ladder(view: &CapacityView) -> String {
    let escaped = |text: &String| prose(text);
    let found = view.found.iter().map(|(name, text)| vec![(*name).to_owned(), escaped(text)]);
    let mut header = vec![view.axis];
    header.extend(capacity::HEADER);
    let rows = view
        .rows
        .iter()
        .map(|(load, values)| std::iter::once(load.clone()).chain(values.iter().map(escaped)).collect());
    let mut text = format!(
        "### {}\n\n{}\n\n{}\n{}",
        code(&view.name),
        prose(&view.answer),
        table(&["Found", ""], "ll", found),
        table(&header, "rrrrrrrrrr", rows)
    );
    if !view.hysteresis.is_empty() {
        let rows = view.hysteresis.iter().map(|row| row.iter().map(escaped).collect());
        text += &format!("\n{}", table(&capacity::HYSTERESIS_HEADER, "llrrrl", rows));
    }
    if !view.steps.is_empty() {
        let rows = view.steps.iter().map(|row| row.iter().map(escaped).collect());
        text += &format!("\n{}", table(&capacity::STEPS_HEADER, "rrlll", rows));
    }
    text
}

fn shifts(page: &Page) -> String {
    if page.shifts.is_empty() {
        return String::new();
    }
    let mut text = format!("## The whole curve\n\n{}\n", shift::ABOUT);
    for curve in &page.shifts {
        let rows = curve.rows.iter().map(|row| row.to_vec());
        text += &format!("\n{}\n\n{}", prose(&curve.title), table(&shift::HEADER, "lrl", rows));
    }
    text
}

fn effects(page: &Page) -> String {
    let Some(effects) = &page.effects else { return String::new() };
    let mut text = format!("## Factors\n\n{}\n\n", effects::ABOUT);
    for factor in &effects.factors {
        text += &format!("- {}\n", prose(factor));
    }
    if !effects.rows.is_empty() {
        let row = |row: &EffectView| {
            vec![
                row.name.to_owned(),
                prose(&row.what),
                row.change.clone(),
                prose(&row.interval),
                format!("{} {}", verdict(row.verdict), row.p.replace('<', "\\<")),
                row.blocks.to_string(),
            ]
        };
        text += &format!("\n{}", table(&effects::HEADER, "llrrlr", effects.rows.iter().map(row)));
    }
    for note in &effects.notes {
        text += &format!("\n{}\n", prose(note));
    }
    text
}

fn layers(page: &Page) -> String {
    if page.layers.is_empty() {
        return String::new();
    }
    let sets: Vec<_> = page.layers.iter().map(layers_of).collect();
    format!("## Layers\n\n{}\n\n{}", layers::ABOUT, sets.join("\n"))
}

fn layers_of(view: &LayersView) -> String {
    let row = |row: &LayerRow| {
        vec![
            prose(&row.level),
            row.cost.clone(),
            row.interval.clone(),
            format!("{}{}", verdict(row.answer), row.note),
            row.p.replace('<', "\\<"),
            row.blocks.clone(),
        ]
    };
    let tables = view.metrics.iter().map(|metric| {
        let mut header = layers::HEADER;
        header[0] = metric.name;
        table(&header, "lrrlrr", metric.rows.iter().map(row))
    });
    let tables: Vec<_> = tables.collect();
    format!("### {}\n\n{}{}", prose(&view.name), tables.join("\n"), footnotes(&view.notes))
}

fn cells(page: &Page) -> String {
    let mut header = vec!["Cell", "Label"];
    header.extend(KEY_METRICS.map(Metric::title));
    header.extend(["Cold start", "Trials"]);
    format!(
        "## Cells\n\nCentre over the valid trials, with its {} interval; cold start is the median time from execution to the first good \
         answer.\n\n{}{}{}{}",
        page.confidence,
        table(&header, "llrrrrrrrl", page.cells.iter().map(cell_row)),
        footnotes(&page.cell_notes),
        usual_table(page),
        messages_table(page) + &requests(page) + &agents_table(page)
    )
}

fn usual_table(page: &Page) -> String {
    let rows = page.usual.iter().map(|view| (&*view.cell, &*view.values));
    plain_table("As load tools print it", usual::ABOUT, &usual::HEADER, rows)
}

fn messages_table(page: &Page) -> String {
    let rows = page.messages.iter().map(|view| (&*view.cell, &*view.values));
    plain_table("Messages on streams", messages::ABOUT, &messages::HEADER, rows)
}

fn agents_table(page: &Page) -> String {
    let rows = page.agents.iter().map(|view| (&*view.name, &*view.values));
    let table = plain_table("Agents of the fleet", agents::ABOUT, &agents::HEADER, rows);
    if page.agents_compared.is_empty() {
        table
    } else {
        format!("{table}\n{}\n", prose(&page.agents_compared))
    }
}

fn requests(page: &Page) -> String {
    if page.requests.is_empty() {
        return String::new();
    }
    let cells: String = page.requests.iter().map(requests_of).collect();
    format!("\n### Slowest requests and first failures\n\n{}\n{cells}", requests::ABOUT)
}

fn requests_of(view: &RequestsView) -> String {
    let row = |row: &Vec<String>| {
        let escaped = |(at, value): (usize, &String)| {
            if at == requests::NAME_AT { code(value) } else { prose(value) }
        };
        row.iter().enumerate().map(escaped).collect()
    };
    let align = "l".repeat(view.header.len());
    let mut text =
        format!("\n#### {}\n\n{}", code(&view.cell), table(&view.header, &align, view.rows.iter().map(row)));
    if !view.spans.is_empty() {
        text += &format!("\n{}\n", requests::SPANS_ABOUT);
        text.extend(view.spans.iter().map(spans_of));
    }
    text
}

fn spans_of(view: &SpansView) -> String {
    let row = |row: &SpanRow| {
        let values = row.values.iter().map(|value| prose(value));
        [format!("{}{}", row.indent, code(&row.name))].into_iter().chain(values).collect()
    };
    let more = if view.more.is_empty() { String::new() } else { format!("\n{}\n", view.more) };
    format!("\n{}\n\n{}{more}", prose(&view.head), table(&spans::HEADER, "llrrr", view.rows.iter().map(row)))
}

/// A table of cells and numbers with its heading; nothing without rows.
fn plain_table<'a>(
    title: &str,
    about: &str,
    header: &[&str],
    rows: impl ExactSizeIterator<Item = (&'a str, &'a [String])>,
) -> String {
    if rows.len() == 0 {
        return String::new();
    }
    let align = "l".to_owned() + &"r".repeat(header.len() - 1);
    let rows = rows.map(|(cell, values)| {
        let values = values.iter().map(|value| value.replace('<', "\\<"));
        [code(cell)].into_iter().chain(values).collect()
    });
    format!("\n### {title}\n\n{about}\n\n{}", table(header, &align, rows))
}

fn cell_row(cell: &CellView) -> Vec<String> {
    let values = cell.values.iter().map(|value| {
        let interval = value.interval.as_ref().map_or_else(String::new, |interval| format!(" ({interval})"));
        format!("{}{interval}{}", value.center, value.note).replace('<', "\\<")
    });
    [code(&cell.id), code(&cell.label)]
        .into_iter()
        .chain(values)
        .chain([cell.cold_start.clone(), cell.trials.clone()])
        .collect()
}

fn levels(page: &Page) -> String {
    if page.levels.is_empty() {
        return String::new();
    }
    let row = |level: &LevelView| {
        let values = level.values.iter().map(|value| prose(value));
        [code(&level.cell), level.metric.to_owned()].into_iter().chain(values).collect()
    };
    let about = levels::ABOUT;
    let table = table(&levels::HEADER, "llrrrrr", page.levels.iter().map(row));
    format!("## Where the spread comes from\n\n{about}\n\n{table}")
}

fn memory(page: &Page) -> String {
    if page.memory.is_empty() {
        return String::new();
    }
    let line =
        |line: &MemoryLine| format!("- {}: {}\n", code(&line.cell), prose(&line.text).replace('<', "\\<"));
    let lines: String = page.memory.iter().map(line).collect();
    format!("## Memory\n\nThe valid trial with the middle throughput of each cell.\n\n{lines}")
}

fn limits(page: &Page) -> String {
    if page.limits.is_empty() {
        return String::new();
    }
    let rows =
        page.limits.iter().map(|cell| vec![code(&cell.cell), prose(&cell.limits), prose(&cell.throttling)]);
    format!("## Limits\n\n{}\n\n{}", limits::ABOUT, table(&["Cell", "Limits", "Quota"], "lll", rows))
}

fn findings(page: &Page) -> String {
    if page.findings.is_empty() {
        return String::new();
    }
    let mut text = "## Findings\n\n".to_owned();
    for finding in &page.findings {
        let remedy =
            finding.remedy.as_ref().map_or_else(String::new, |remedy| format!(" → {}", prose(remedy)));
        text += &format!("- {}: {}{remedy}\n", finding.level.both(), prose(&finding.text));
    }
    text
}

fn events(page: &Page) -> String {
    if page.events.is_empty() {
        return String::new();
    }
    let row = |event: &EventView| {
        let values = event.values.iter().map(|value| prose(value));
        [code(&event.name), code(&event.cell)].into_iter().chain(values).collect()
    };
    let mut text =
        format!("## Events\n\n{ABOUT}\n\n{}", table(&HEADER, "llrrrrrrr", page.events.iter().map(row)));
    for (event, error) in page.events.iter().flat_map(|event| event.errors.iter().map(move |e| (event, e))) {
        text += &format!(
            "\n{} in {} could not be carried out: {}\n",
            code(&event.name),
            code(&event.cell),
            code(error)
        );
    }
    text
}

fn trials(page: &Page) -> String {
    let header = [
        "Trial",
        "Block",
        "Cell",
        "Outcome",
        "Window",
        "Throughput",
        "p50",
        "p99",
        "Scheduled",
        "Completed",
        "Failed",
        "Censored",
        "Reasons",
    ];
    format!(
        "## Trials\n\n{}. Every scheduled request is completed, failed or censored.\n\n{}",
        page.trials_line,
        table(&header, "rrlllrrrrrrrl", page.trials.iter().map(trial_row))
    )
}

fn trial_row(trial: &TrialView) -> Vec<String> {
    let reasons: Vec<_> = trial.reasons.iter().map(|reason| prose(reason)).collect();
    vec![
        trial.id.to_string(),
        trial.block.to_string(),
        code(&trial.cell),
        verdict(trial.outcome),
        trial.steady.to_owned(),
        trial.throughput.clone(),
        trial.p50.clone(),
        trial.p99.clone(),
        trial.scheduled.clone(),
        trial.completed.clone(),
        trial.failed.clone(),
        trial.censored.clone(),
        reasons.join("; "),
    ]
}

fn environment(page: &Page) -> String {
    let facts = page.facts.iter().map(|fact| {
        let remedy = fact.remedy.as_ref().map_or_else(String::new, |remedy| format!(" → {}", prose(remedy)));
        vec![
            verdict(fact.severity),
            prose(&fact.title),
            code(&fact.value),
            format!("{}{remedy}", prose(&fact.effect)),
        ]
    });
    format!(
        "## Environment\n\n{}\n### Versions\n\n{}",
        table(&["", "Fact", "Found", "Effect and remedy"], "llll", facts),
        named("What", "Version", &page.versions)
    )
}

fn reproduce(page: &Page) -> String {
    format!(
        "## How to reproduce\n\n{}\nSeed {}.\n\n{}\n### Experiment file\n\n{}",
        markdown_block(&page.command),
        page.seed,
        named("Setting", "Value", &page.settings),
        markdown_block(&page.experiment_text)
    )
}

fn named(name: &str, value: &str, rows: &[Row]) -> String {
    table(&[name, value], "ll", rows.iter().map(|(name, value)| vec![prose(name), prose(value)]))
}

fn verdict(word: Word) -> String {
    word.both()
}

fn footnotes(notes: &Footnotes) -> String {
    notes.numbered().map(|(sign, text)| format!("\n{sign} {}\n", prose(&text))).collect()
}

/// A pipe table; `align` has `l` or `r` for each column. Cells must be escaped already.
pub(crate) fn table(header: &[&str], align: &str, rows: impl Iterator<Item = Vec<String>>) -> String {
    let rule: Vec<_> = align.chars().map(|c| if c == 'r' { "--:" } else { "---" }).collect();
    let mut text = format!("| {} |\n|{}|\n", header.join(" | "), rule.join("|"));
    for row in rows {
        text += &format!("| {} |\n", row.join(" | "));
    }
    text
}
