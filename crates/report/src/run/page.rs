//! The report as words, before it takes the shape of a page, a Markdown file or terminal text.
//!
//! Invariants: every string is one harmless line ([`clean::line`]) but not yet escaped for its format; every order
//! is the order of reading (worst notes first, valid trials by number).
//! Absent on purpose: layout, escaping and charts.

use crate::host::instrument::instrument_line;
use crate::run::agents::{self, AgentView};
use crate::run::capacity::{self, CapacityView};
use crate::run::effects::{self, EffectsView};
use crate::run::events::{self, EventView};
use crate::run::findings::{self, FindingView, RuledOutView};
use crate::run::layers::{self, LayersView};
use crate::run::levels::{self, LevelView};
use crate::run::limits::{self, LimitsView};
use crate::run::memory::{self, MemoryLine};
use crate::run::messages::{self, MessagesView};
use crate::run::ranking::{self, RankingView};
use crate::run::requests::{self, RequestsView};
use crate::run::settings::{self, FactView, Row};
use crate::run::shift::{self, ShiftView};
use crate::run::soak::{self, SoakView};
use crate::run::steady::{self, WarmUpView};
use crate::run::usual::{self, UsualView};
use crate::words::{self, Footnotes, Word};
use crate::{clean, format};
use schema::agents::AgentRecord;
use schema::analysis::{
    AnalysisFile, Basis, Belief, BeliefLevel, CellSummary, ClaimResult, Comparison, Interval, MetricSummary,
    RatioOfMeans, TrialRow, Verdict,
};
use schema::metric::Metric;
use schema::run::RunFile;
use schema::said::Said;
use schema::threshold::ThresholdAnswer;
use schema::trial::TrialOutcome;

/// The metrics of the short tables, in their order.
pub(crate) const KEY_METRICS: [Metric; 6] =
    [Metric::Throughput, Metric::P50, Metric::P99, Metric::ErrorRate, Metric::CpuPerRequest, Metric::Memory];

/// The whole report.
pub(crate) struct Page {
    pub(crate) name: String,
    pub(crate) run: String,
    pub(crate) started: String,
    pub(crate) question: String,
    pub(crate) answer: String,
    pub(crate) belief: BeliefView,
    pub(crate) instrument: String,
    pub(crate) claims: Vec<ClaimView>,
    pub(crate) thresholds: Vec<ClaimView>,
    pub(crate) pairs: Vec<PairView>,
    pub(crate) pair_notes: Footnotes,
    pub(crate) effects: Option<EffectsView>,
    pub(crate) shifts: Vec<ShiftView>,
    pub(crate) layers: Vec<LayersView>,
    pub(crate) ranking: RankingView,
    pub(crate) cells: Vec<CellView>,
    pub(crate) cell_notes: Footnotes,
    pub(crate) usual: Vec<UsualView>,
    pub(crate) messages: Vec<MessagesView>,
    pub(crate) requests: Vec<RequestsView>,
    pub(crate) agents: Vec<AgentView>,
    pub(crate) agents_compared: String,
    pub(crate) warm_ups: Vec<WarmUpView>,
    pub(crate) levels: Vec<LevelView>,
    pub(crate) memory: Vec<MemoryLine>,
    pub(crate) capacity: Vec<CapacityView>,
    pub(crate) findings: Vec<FindingView>,
    pub(crate) ruled_out: Vec<RuledOutView>,
    pub(crate) limits: Vec<LimitsView>,
    pub(crate) events: Vec<EventView>,
    pub(crate) soak: Option<SoakView>,
    pub(crate) trials: Vec<TrialView>,
    pub(crate) trials_line: String,
    pub(crate) facts: Vec<FactView>,
    pub(crate) versions: Vec<Row>,
    pub(crate) settings: Vec<Row>,
    pub(crate) command: String,
    pub(crate) seed: u64,
    pub(crate) experiment_text: String,
    pub(crate) confidence: String,
    pub(crate) margin: String,
    /// The verdicts as a family, in one sentence; empty where nothing is judged.
    pub(crate) family: String,
}

/// Whether the numbers may be believed.
pub(crate) struct BeliefView {
    pub(crate) level: Word,
    pub(crate) summary: String,
    pub(crate) notes: Vec<NoteView>,
}

/// One thing that was looked at.
pub(crate) struct NoteView {
    pub(crate) level: Word,
    /// Whether it speaks against the numbers.
    pub(crate) is_against: bool,
    /// What it is about: the host, the method or single trials.
    pub(crate) about: About,
    pub(crate) text: String,
    pub(crate) remedy: Option<String>,
}

/// What a note is about; the order is that of reading.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum About {
    Trials,
    Method,
    Host,
}

impl About {
    /// By the id of the sentence; a text without one is about where the run was.
    fn of(text: &Said) -> Self {
        const HOST: [&str; 11] = [
            "confinement.",
            "pin.",
            "host.",
            "fact.",
            "doctor.",
            "belief.fact",
            "belief.clock_ran",
            "belief.other_processes",
            "belief.up_cpu_time_stolen",
            "belief.fixed_amount_work",
            "belief.ran_slower_machine",
        ];
        const TRIALS: [&str; 10] = [
            "steady.",
            "outlier.",
            "failures.",
            "belief.all_trials",
            "belief.answered_fewer",
            "belief.cell_plan",
            "belief.fewer_than_valid",
            "belief.outcomes",
            "belief.run_ended",
            "belief.warm_up",
        ];
        let is_one = |of: &[&str]| of.iter().any(|start| text.id().starts_with(start));
        match (text.id().is_empty() || is_one(&HOST), is_one(&TRIALS)) {
            (true, _) => Self::Host,
            (_, true) => Self::Trials,
            _ => Self::Method,
        }
    }

    pub(crate) const fn word(self) -> &'static str {
        match self {
            Self::Trials => "trials",
            Self::Method => "method",
            Self::Host => "host",
        }
    }
}

/// A claim and its answer.
pub(crate) struct ClaimView {
    pub(crate) verdict: Word,
    pub(crate) text: String,
    pub(crate) evidence: String,
    pub(crate) ratio: Option<String>,
}

/// All metrics of two targets at one load.
pub(crate) struct PairView {
    pub(crate) a: String,
    pub(crate) b: String,
    /// With a comma before it; empty where each of the two says its own.
    pub(crate) load: String,
    pub(crate) rows: Vec<ComparisonView>,
}

/// One metric of a pair.
pub(crate) struct ComparisonView {
    pub(crate) metric: Metric,
    pub(crate) name: &'static str,
    pub(crate) change: String,
    pub(crate) interval: String,
    pub(crate) rank_check: String,
    /// Ratio of the arithmetic means with Fieller's interval.
    pub(crate) means: String,
    /// Interval by the hierarchical bootstrap.
    pub(crate) bootstrap: String,
    pub(crate) p: String,
    pub(crate) blocks: u32,
    pub(crate) verdict: Word,
    pub(crate) note: String,
}

/// One cell.
pub(crate) struct CellView {
    pub(crate) id: String,
    pub(crate) label: String,
    /// From execution to the first good answer.
    pub(crate) cold_start: String,
    pub(crate) trials: String,
    pub(crate) values: Vec<ValueView>,
}

/// One metric of a cell: centre, interval, and the sign of the footnote that says why one of them is missing.
pub(crate) struct ValueView {
    pub(crate) center: String,
    pub(crate) interval: Option<String>,
    pub(crate) note: String,
}

/// One trial.
pub(crate) struct TrialView {
    pub(crate) id: u32,
    pub(crate) block: u32,
    pub(crate) cell: String,
    pub(crate) outcome: Word,
    pub(crate) valid: bool,
    pub(crate) reasons: Vec<String>,
    /// Equal for trials that ended alike: the reasons but for their numbers.
    pub(crate) kind: String,
    /// Whether its window was steady.
    pub(crate) steady: &'static str,
    pub(crate) throughput: String,
    pub(crate) p50: String,
    pub(crate) p99: String,
    pub(crate) scheduled: String,
    pub(crate) completed: String,
    pub(crate) failed: String,
    pub(crate) censored: String,
}

impl ComparisonView {
    pub(crate) fn is_key(&self) -> bool {
        KEY_METRICS.contains(&self.metric)
    }
}

/// What the instrument can do, and what became of its own error.
fn instrument(run: &RunFile, analysis: &AnalysisFile) -> String {
    let line = instrument_line(run.calibration.as_ref());
    let line = if run.agents.is_empty() { line } else { format!("{}; {line}", agents(&run.agents)) };
    analysis.instrument.as_ref().map_or(line.clone(), |error| format!("{line}; {}", clean::line(error)))
}

/// The agents of a fleet with the host and the clock of each.
fn agents(agents: &[AgentRecord]) -> String {
    let one = |agent: &AgentRecord| {
        let bound = format::duration(agent.clock.bound_ns as f64);
        let note = agent.facts.kernel_clock.and_then(|clock| clock.note());
        let note = note.map_or_else(String::new, |note| format!("; {note}"));
        format!("{} on {} (clock ±{bound}{note})", clean::line(&agent.name), clean::line(&agent.facts.host))
    };
    let all: Vec<String> = agents.iter().map(one).collect();
    format!("a fleet of {}", units::format::listed(&all))
}

impl Page {
    /// Whether there are numbers at all.
    pub(crate) fn has_valid_trials(&self) -> bool {
        self.trials.iter().any(|trial| trial.valid)
    }

    /// Puts the run and its analysis into words.
    pub(crate) fn new(run: &RunFile, analysis: &AnalysisFile) -> Self {
        let (mut pair_notes, mut cell_notes) = (Footnotes::default(), Footnotes::default());
        let pairs = pairs(&analysis.comparisons, &mut pair_notes);
        let cells = analysis.cells.iter().map(|cell| cell_view(cell, &mut cell_notes)).collect();
        Self {
            name: clean::line(&run.plan.name),
            run: clean::line(&run.id),
            started: clean::line(&run.started_wall),
            question: clean::line(&analysis.question),
            answer: clean::line(&analysis.answer),
            belief: belief(&analysis.belief),
            instrument: instrument(run, analysis),
            claims: analysis.claims.iter().map(claim).collect(),
            thresholds: analysis.thresholds.iter().map(threshold).collect(),
            pairs,
            pair_notes,
            effects: effects::view(analysis),
            shifts: shift::views(analysis),
            layers: layers::views(analysis),
            ranking: ranking::view(analysis),
            cells,
            cell_notes,
            usual: usual::views(analysis),
            messages: messages::views(analysis),
            requests: requests::views(analysis),
            agents: agents::views(analysis),
            agents_compared: agents::compared(analysis),
            warm_ups: steady::views(analysis),
            levels: levels::views(analysis),
            memory: memory::lines(analysis),
            capacity: capacity::views(analysis),
            findings: findings::findings(analysis),
            ruled_out: findings::ruled_out(analysis),
            limits: limits::views(analysis),
            events: events::views(analysis),
            soak: analysis.soak.as_ref().map(soak::view),
            trials: analysis.trials.iter().map(|row| trial(row, &analysis.cells)).collect(),
            trials_line: trials_line(analysis),
            facts: settings::facts(run),
            versions: settings::versions(run),
            settings: settings::settings(run),
            command: settings::command_line(&run.command),
            seed: run.plan.seed,
            experiment_text: clean::lines(&run.experiment_text),
            confidence: format::chosen_percent(analysis.confidence),
            margin: format!("±{}", format::chosen_percent(analysis.margin)),
            family: analysis
                .family
                .as_ref()
                .map_or_else(String::new, |family| format!("{}.", clean::line(&family.text))),
        }
    }
}

fn belief(belief: &Belief) -> BeliefView {
    let mut notes: Vec<_> = belief.notes.iter().collect();
    // Stable: what is about the same thing keeps its order.
    notes.sort_by_key(|note| (std::cmp::Reverse(note.level), About::of(&note.text)));
    BeliefView {
        level: words::belief(belief.level),
        summary: clean::line(&belief.summary),
        notes: notes
            .into_iter()
            .map(|note| NoteView {
                level: words::belief(note.level),
                is_against: note.level > BeliefLevel::Yes,
                about: About::of(&note.text),
                text: clean::line(&note.text),
                remedy: note.remedy.as_deref().map(clean::line),
            })
            .collect(),
    }
}

fn claim(claim: &ClaimResult) -> ClaimView {
    let ratio = match (claim.ratio, claim.value.zip(claim.metric.as_ref())) {
        (Some(ratio), _) => {
            let interval = claim.interval.as_ref().map(format::ratio_interval);
            Some(format!("ratio {} ({})", format::ratio(ratio), interval.unwrap_or_else(no_interval)))
        }
        (None, Some((value, metric))) => {
            let unit = metric.unit();
            let interval = claim.interval.as_ref().map(|interval| format::interval(unit, interval));
            Some(format!("{} ({})", format::value(unit, value), interval.unwrap_or_else(no_interval)))
        }
        (None, None) => None,
    };
    ClaimView {
        verdict: words::claim(claim.verdict),
        text: clean::line(&claim.text),
        evidence: clean::line(&claim.evidence),
        ratio,
    }
}

fn threshold(one: &ThresholdAnswer) -> ClaimView {
    ClaimView {
        verdict: words::health(one.verdict),
        text: clean::line(&one.text),
        evidence: clean::line(&one.evidence),
        ratio: None,
    }
}

fn no_interval() -> String {
    "no interval".to_owned()
}

/// Comparisons of the same two cells, gathered in the order of their first appearance, metrics in report order.
fn pairs(comparisons: &[Comparison], notes: &mut Footnotes) -> Vec<PairView> {
    let mut order: Vec<(&str, &str)> = Vec::new();
    for comparison in comparisons {
        let cells = (comparison.a.as_str(), comparison.b.as_str());
        if !order.contains(&cells) {
            order.push(cells);
        }
    }
    order.into_iter().filter_map(|cells| pair(cells, comparisons, notes)).collect()
}

fn pair(cells: (&str, &str), comparisons: &[Comparison], notes: &mut Footnotes) -> Option<PairView> {
    let mut of_pair: Vec<_> = comparisons.iter().filter(|c| (c.a.as_str(), c.b.as_str()) == cells).collect();
    of_pair.sort_by_key(|comparison| comparison.metric);
    let first = of_pair.first()?;
    Some(PairView {
        a: clean::line(&first.a_target),
        b: clean::line(&first.b_target),
        load: if first.load.is_empty() { String::new() } else { format!(", {}", clean::line(&first.load)) },
        rows: of_pair.iter().map(|comparison| comparison_view(comparison, notes)).collect(),
    })
}

fn comparison_view(comparison: &Comparison, notes: &mut Footnotes) -> ComparisonView {
    let unit = comparison.metric.unit();
    let shown = |value: Option<f64>, interval: &Option<Interval>| match comparison.basis {
        Basis::Ratio => format::changes(value, interval.as_ref()),
        Basis::Difference => [
            value.map_or_else(none, |value| format::difference(unit, value)),
            interval.as_ref().map_or_else(none, |ends| format::difference_interval(unit, ends)),
        ],
    };
    let [change, interval] = match comparison.basis {
        Basis::Ratio => shown(comparison.ratio, &comparison.interval),
        Basis::Difference => shown(comparison.difference, &comparison.difference_interval),
    };
    let rank_check = comparison.hodges_lehmann.map_or_else(none, |estimate| {
        let [estimate, ends] = shown(Some(estimate), &comparison.hodges_lehmann_interval);
        format!("{estimate} ({ends})")
    });
    ComparisonView {
        metric: comparison.metric,
        name: comparison.metric.title(),
        change,
        interval: match comparison.verdict {
            Verdict::Refused => none(),
            _ => interval,
        },
        rank_check,
        means: comparison.ratio_of_means.as_ref().map_or_else(none, means),
        bootstrap: comparison
            .bootstrap
            .as_ref()
            .map_or_else(none, |found| format::change_interval(&found.interval)),
        p: comparison.p_family.map_or_else(none, format::p_value),
        blocks: comparison.blocks,
        verdict: words::verdict(comparison.verdict, comparison.metric),
        note: sign(comparison.refused.as_deref(), notes),
    }
}

/// `+4.1 % (+3.2 … +5.0 %)`; an unbounded interval says which ratios it excludes all the same.
fn means(found: &RatioOfMeans) -> String {
    let excluded = found
        .excluded
        .as_ref()
        .map_or_else(String::new, |ends| format!(", but not ratios of {}", format::ratio_interval(ends)));
    let [change, interval] = format::changes(Some(found.ratio), Some(&found.interval));
    format!("{change} ({interval}{excluded})")
}

fn cell_view(cell: &CellSummary, notes: &mut Footnotes) -> CellView {
    CellView {
        id: clean::line(&cell.cell),
        label: clean::line(&cell.label),
        cold_start: cell.cold_start_ns.map_or_else(none, format::nanos),
        trials: outcomes(cell.trials_valid, cell.trials_void, cell.trials_failed),
        values: KEY_METRICS
            .iter()
            .map(|metric| value_view(cell.metrics.iter().find(|summary| summary.metric == *metric), notes))
            .collect(),
    }
}

fn value_view(summary: Option<&MetricSummary>, notes: &mut Footnotes) -> ValueView {
    let Some(summary) = summary else {
        return ValueView { center: none(), interval: None, note: sign(Some("not measured"), notes) };
    };
    // No error in any trial needs no excuse for having no interval.
    let is_clean = summary.metric == Metric::ErrorRate && summary.center == Some(0.0);
    let refused = summary.refused.as_deref().filter(|_| !is_clean);
    ValueView {
        center: summary.center.map_or_else(none, |center| format::value(summary.unit, center)),
        interval: summary.interval.as_ref().map(|interval| format::interval(summary.unit, interval)),
        note: sign(refused, notes),
    }
}

fn trial(row: &TrialRow, cells: &[CellSummary]) -> TrialView {
    let value = |metric: Metric| {
        let value = row.values.iter().find(|value| value.metric == metric).and_then(|value| value.value);
        value.map_or_else(none, |value| format::value(metric.unit(), value))
    };
    let label = cells.iter().find(|cell| cell.cell == row.cell).map_or(&row.cell, |cell| &cell.label);
    TrialView {
        id: row.id,
        block: row.block,
        cell: clean::line(label),
        outcome: words::outcome(row.outcome),
        valid: row.outcome == TrialOutcome::Valid,
        reasons: row.reasons.iter().map(|reason| clean::line(reason)).collect(),
        kind: row.reasons.iter().map(Said::kind).collect::<Vec<_>>().join(" "),
        steady: steady::word(row),
        throughput: value(Metric::Throughput),
        p50: value(Metric::P50),
        p99: value(Metric::P99),
        scheduled: format::count(row.scheduled),
        completed: format::count(row.completed),
        failed: format::count(row.failed),
        censored: format::count(row.censored),
    }
}

fn trials_line(analysis: &AnalysisFile) -> String {
    let ended = |outcome| analysis.trials.iter().filter(|row| row.outcome == outcome).count() as u32;
    let outcomes =
        outcomes(ended(TrialOutcome::Valid), ended(TrialOutcome::Void), ended(TrialOutcome::Failed));
    let run = format::count(analysis.trials.len() as u64);
    format!("{run} of {} run: {outcomes}", format::counted(analysis.trials_planned.into(), "planned trial"))
}

fn outcomes(valid: u32, void: u32, failed: u32) -> String {
    let mut text = format!("{valid} valid");
    for (number, word) in [(void, "void"), (failed, "failed")] {
        if number > 0 {
            text.push_str(&format!(", {number} {word}"));
        }
    }
    text
}

fn sign(reason: Option<&str>, notes: &mut Footnotes) -> String {
    reason.map(|reason| notes.sign(&clean::line(reason))).unwrap_or_default()
}

fn none() -> String {
    format::NONE.to_owned()
}
