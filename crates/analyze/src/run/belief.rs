//! Whether the numbers may be believed: what was looked at, what was found, and what would cure it.
//!
//! Facts about the host are presumptions and weigh as reservations at most: whether they did harm is what the gates
//! of each trial measure. Only missing or mostly void trials make a run one that must not be used.

use super::MIN_TRIALS;
use super::confinement;
use super::control;
use super::cross_checks;
use super::data::RunData;
use super::drift::drift;
use super::failures;
use super::machine;
use super::steady;
use crate::stats::student::MeanTest;
use crate::trial::{CANARY_SAID, COMPETING_SAID, STEAL_SAID};
use crate::words::{self, count, listed, percent};
use schema::analysis::{Belief, BeliefLevel, BeliefNote, CellSummary, Comparison, Verdict};
use schema::design::StopReason;
use schema::doctor::{Fact, Severity};
use schema::metric::Metric;
use schema::plan::Replicas;
use schema::run::RunFile;
use schema::trial::TrialOutcome;

/// Standard deviation of the log of throughput over the trials of a cell from which it is a reservation: with 5 % the
/// interval over five trials is ± 6 %, three times the usual margin.
const SPREAD: f64 = 0.05;
/// Share of the variance between trials from which restarts decide the answer.
const SHARE: f64 = 0.9;
/// p below which a drift is taken for one.
const DRIFT_P: f64 = 0.05;

pub(super) fn belief(
    run: &RunFile,
    data: &RunData<'_>,
    cells: &[CellSummary],
    comparisons: &[Comparison],
) -> Belief {
    let mut notes = outcomes(data, cells);
    let failures = failures::note(data);
    notes.extend(failures.clone());
    notes.extend(interrupted(data));
    notes.extend(strangers(data));
    notes.extend(backwards(data));
    notes.extend(settings(data));
    notes.extend(not_level(data));
    notes.extend(steady::notes(data));
    notes.extend(competing(data));
    notes.extend(stolen(data));
    notes.extend(changed_speed(data));
    notes.extend(slow_trials(data));
    notes.extend(beyond_the_instrument(run));
    notes.extend(spread(cells));
    notes.extend(restarts(data, cells));
    notes.extend(drifted(data));
    notes.extend(control::note(data, comparisons));
    notes.extend(stopped(data));
    notes.extend(many_questions(data, comparisons));
    notes.extend(data.plan.pin.weakness.iter().map(|weakness| {
        reservation(
            weakness.clone(),
            "use a machine with more cores, or set `pin` so that target and generator part",
        )
    }));
    notes.extend(confinement::notes(run, data));
    notes.extend(cross_checks::notes(data, cells));
    notes.extend(environment(&run.environment.facts));
    // Stable: within a level the order above stays.
    notes.sort_by_key(|note| std::cmp::Reverse(note.level));
    let level = notes.iter().map(|note| note.level).max().unwrap_or(BeliefLevel::Yes);
    Belief { level, summary: summary(level, &notes, failures.as_ref()), notes }
}

/// The worst note, and beside it the share of failures where there are any.
fn summary(level: BeliefLevel, notes: &[BeliefNote], failures: Option<&BeliefNote>) -> String {
    let first = notes.first().map_or("", |note| note.text.as_str());
    let failures = failures.map(|note| note.text.as_str()).filter(|text| *text != first);
    let first = &failures.map_or_else(|| first.to_owned(), |failures| format!("{first}; {failures}"));
    let reservations = notes.iter().filter(|note| note.level == BeliefLevel::WithReservations).count();
    match level {
        BeliefLevel::Yes => format!("These numbers can be believed: {first}."),
        BeliefLevel::WithReservations => format!(
            "These numbers can be believed with {}: {first}{}.",
            count(reservations, "reservation"),
            if reservations > 1 { "; see the notes" } else { "" }
        ),
        BeliefLevel::No => format!("These numbers must not be used: {first}."),
    }
}

fn note(level: BeliefLevel, text: String, remedy: &str) -> BeliefNote {
    BeliefNote { level, text, remedy: Some(remedy.to_owned()) }
}

fn reservation(text: String, remedy: &str) -> BeliefNote {
    note(BeliefLevel::WithReservations, text, remedy)
}

fn speaks_for(text: String) -> BeliefNote {
    BeliefNote { level: BeliefLevel::Yes, text, remedy: None }
}

/// Void and failed trials, and cells that are left with too few.
fn outcomes(data: &RunData<'_>, cells: &[CellSummary]) -> Vec<BeliefNote> {
    let all = data.trials.len();
    let bad = ids(data, |outcome| outcome != TrialOutcome::Valid).len();
    if all == 0 {
        let remedy = "run the experiment again, or `prony run --resume`";
        return vec![note(BeliefLevel::No, "no trial was run to its end".to_owned(), remedy)];
    }
    let level = if 2 * bad > all { BeliefLevel::No } else { BeliefLevel::WithReservations };
    let mut notes: Vec<BeliefNote> = [
        (
            TrialOutcome::Failed,
            ["failed", "failed"],
            "read their target.log, mend the target, then `prony run --resume`",
        ),
        (TrialOutcome::Void, ["is void", "are void"], "cure the reasons, then run the experiment again"),
    ]
    .into_iter()
    .filter_map(|(outcome, [singular, plural], remedy)| {
        let ids = ids(data, |found| found == outcome);
        (!ids.is_empty()).then(|| {
            let reasons = reasons(data, outcome);
            let text = format!(
                "{} of {} {} ({}){reasons}",
                ids.len(),
                count(all, "trial"),
                if ids.len() == 1 { singular } else { plural },
                listed("trial", &ids)
            );
            note(level, text, remedy)
        })
    })
    .collect();
    // A search visits most rates once, on purpose; a soak has one trial a segment, and its windows are judged instead.
    let one_is_enough = data.plan.search().is_some() || data.plan.soak.is_some();
    notes.extend(thin_cells(cells).filter(|_| !one_is_enough));
    if bad == 0 {
        notes.push(speaks_for(if all == 1 {
            "the one trial is valid".to_owned()
        } else {
            format!("all {all} trials are valid")
        }));
    }
    notes
}

/// Cells that cannot have an interval.
fn thin_cells(cells: &[CellSummary]) -> Option<BeliefNote> {
    let thin: Vec<&CellSummary> =
        cells.iter().filter(|cell| (cell.trials_valid as usize) < MIN_TRIALS).collect();
    let worst = thin.iter().min_by_key(|cell| cell.trials_valid)?;
    let missing = MIN_TRIALS - worst.trials_valid as usize;
    let text = format!(
        "{} of {} {} fewer than {MIN_TRIALS} valid trials, so there is no interval ({}: {})",
        thin.len(),
        count(cells.len(), "cell"),
        if thin.len() == 1 { "has" } else { "have" },
        worst.label,
        worst.trials_valid
    );
    Some(reservation(text, &format!("run {missing} more block{}", if missing == 1 { "" } else { "s" })))
}

fn ids(data: &RunData<'_>, chosen: impl Fn(TrialOutcome) -> bool) -> Vec<u32> {
    data.trials.iter().filter(|trial| chosen(trial.file.outcome)).map(|trial| trial.file.id).collect()
}

/// Up to two different reasons.
fn reasons(data: &RunData<'_>, outcome: TrialOutcome) -> String {
    let mut reasons: Vec<&str> = Vec::new();
    for trial in data.trials.iter().filter(|trial| trial.file.outcome == outcome) {
        for reason in &trial.file.reasons {
            if reasons.len() < 2 && !reasons.contains(&reason.as_str()) {
                reasons.push(reason);
            }
        }
    }
    if reasons.is_empty() { String::new() } else { format!(": {}", reasons.join("; ")) }
}

fn interrupted(data: &RunData<'_>) -> Option<BeliefNote> {
    let (planned, had) = (data.plan.order.len(), data.trials.len());
    (had > 0 && had < planned && data.plan.soak.is_none()).then(|| {
        let text = format!("the run ended after {had} of {}", count(planned, "trial"));
        reservation(text, "finish it with `prony run --resume`")
    })
}

/// Which rule ended a run that decided while it ran.
fn stopped(data: &RunData<'_>) -> Option<BeliefNote> {
    let stopping = data.plan.design.stopping.as_ref()?;
    let stopped = stopping.stopped.as_ref()?;
    let blocks = count(data.plan.blocks as usize, "block");
    let text = format!("the run ended after {blocks}: {}", stopped.text);
    let is_short = stopping.precision.is_some() && stopped.reason != StopReason::Precision;
    Some(if is_short {
        let wanted = percent(stopping.precision.unwrap_or_default());
        let text = format!("{text}; the wanted ± {wanted} is not reached");
        reservation(text, "raise `design.budget` or `blocks`, or ask for less with `design.precision`")
    } else {
        speaks_for(text)
    })
}

/// Trials of cells that the plan does not have.
fn strangers(data: &RunData<'_>) -> Option<BeliefNote> {
    let strangers = data.trials.iter().filter(|trial| data.cell(&trial.file.cell).is_none());
    let ids: Vec<u32> = strangers.map(|trial| trial.file.id).collect();
    (!ids.is_empty()).then(|| {
        let text = format!("{} of a cell that the plan does not have, left out", listed("trial", &ids));
        reservation(text, "check that all trial folders belong to this run")
    })
}

/// Trials whose clock ran backwards.
fn backwards(data: &RunData<'_>) -> Option<BeliefNote> {
    (!data.backwards.is_empty()).then(|| {
        let text = format!("the clock ran backwards in {}, left out", listed("trial", &data.backwards));
        reservation(text, "look for damaged files or files of two runs in one folder; run these trials again")
    })
}

fn settings(data: &RunData<'_>) -> Option<BeliefNote> {
    (!data.settings_usable).then(|| {
        let text = format!(
            "the plan's confidence level or margin cannot be used; {} and {} were taken",
            percent(data.confidence),
            percent(data.margin)
        );
        reservation(text, "set `confidence` between 0.5 and 1 and `margin` above 0")
    })
}

/// A warm-up of fixed length was the user's choice and promises nothing.
fn not_level(data: &RunData<'_>) -> Option<BeliefNote> {
    let phases = &data.plan.phases;
    if phases.warmup_at_most_ns <= phases.warmup_at_least_ns {
        return None;
    }
    let (ids, waited) = steady::ran_out(data)?;
    let waited = waited.map_or(String::new(), |waited| format!(": {waited}"));
    let text = format!("warm-up ran out before the target was steady in {}{waited}", listed("trial", &ids));
    Some(reservation(text, "raise `warmup.at_most`"))
}

/// CPU time that others used, which was said but did not void.
fn competing(data: &RunData<'_>) -> Option<BeliefNote> {
    let (worst, ids) = said(data, "competing_cpu", COMPETING_SAID)?;
    let text = format!(
        "other processes used up to {} of the trial's CPUs in {}",
        percent(worst),
        listed("trial", &ids)
    );
    Some(reservation(text, "end them, or give the trial CPUs that nobody else uses (`pin`, isolcpus)"))
}

/// Steal that was said but did not void (METHOD §9).
fn stolen(data: &RunData<'_>) -> Option<BeliefNote> {
    let (worst, ids) = said(data, "steal", STEAL_SAID)?;
    let text = format!(
        "up to {} of the CPU time was stolen from this host in {}",
        percent(worst),
        listed("trial", &ids)
    );
    Some(reservation(text, "use a host with dedicated cores"))
}

/// Drift of the fixed-work canary that was said but did not void (METHOD §9).
fn changed_speed(data: &RunData<'_>) -> Option<BeliefNote> {
    let (worst, ids) = said(data, "canary", CANARY_SAID)?;
    let text = format!(
        "a fixed amount of work took up to {} more or less time after the load than before it in {}: the CPU changed \
         its speed",
        percent(worst),
        listed("trial", &ids)
    );
    Some(reservation(text, "fix the clock of the cores (`prony doctor`), or use a host with dedicated cores"))
}

/// Trials that a slower machine ran, as its canary tells (METHOD §9). One that did its work all the same did no harm.
fn slow_trials(data: &RunData<'_>) -> Option<BeliefNote> {
    let slow = machine::slow(data)?;
    let by = if slow.factor >= 2.0 {
        format!("{} times as long as", words::number(slow.factor))
    } else {
        format!("{} longer than", percent(slow.factor - 1.0))
    };
    let effect = match slow.throughput {
        Some(ratio) if ratio >= 1.0 - data.margin => return None,
        None => String::new(),
        Some(ratio) => format!(
            ", and {} answered {} fewer requests per second than the other trials of the same cell: that is the \
             machine, not the target",
            if slow.ids.len() == 1 { "it" } else { "they" },
            percent(1.0 - ratio)
        ),
    };
    let ids = listed("trial", &slow.ids);
    Some(reservation(
        format!("{ids} ran on a slower machine: a fixed amount of work took {by} in the others{effect}"),
        "find what slowed it (`prony doctor`: clock of the cores, a CPU quota, a busy neighbour), then run it again",
    ))
}

/// A spread that comes with the restarts: longer samples do not help against it.
fn restarts(data: &RunData<'_>, cells: &[CellSummary]) -> Option<BeliefNote> {
    let all = cells.iter().filter_map(|cell| Some((cell, cell.levels?)));
    let notable = all.filter(|(_, levels)| {
        levels.trials as usize >= MIN_TRIALS
            && levels.trial_cv > data.margin
            && levels.trial_share.is_some_and(|share| share > SHARE)
    });
    let (cell, levels) = notable.max_by(|a, b| a.1.trial_cv.total_cmp(&b.1.trial_cv))?;
    let text = format!(
        "{} changes the answer: of the variance of {} {} lies between trials, not between their samples ({}, \
         standard deviation {})",
        match data.plan.replicas {
            Replicas::Restart => "restarting the target",
            Replicas::Rebuild => "building the target anew",
        },
        levels.metric.words(),
        percent(levels.trial_share.unwrap_or_default()),
        cell.label,
        percent(levels.trial_cv)
    );
    Some(reservation(
        text,
        "run more blocks rather than longer samples, and look for what differs between starts",
    ))
}

/// The largest value of a gate over the valid trials in which it is above `limit`, and these trials.
fn said(data: &RunData<'_>, name: &str, limit: f64) -> Option<(f64, Vec<u32>)> {
    let mut worst = 0.0_f64;
    let mut ids = Vec::new();
    for trial in data.trials.iter().filter(|trial| trial.file.outcome == TrialOutcome::Valid) {
        let gates = trial.file.load.iter().flat_map(|load| &load.validity.gates);
        if let Some(gate) = gates.into_iter().find(|gate| gate.gate == name && gate.value > limit) {
            worst = worst.max(gate.value);
            ids.push(trial.file.id);
        }
    }
    (!ids.is_empty()).then_some((worst, ids))
}

/// What was asked for beyond what the calibration gives, as it was said before the first trial.
fn beyond_the_instrument(run: &RunFile) -> impl Iterator<Item = BeliefNote> {
    run.calibration
        .iter()
        .flat_map(|limit| &limit.shortfalls)
        .map(|found| reservation(found.text.clone(), &found.remedy))
}

/// The widest spread of throughput between the trials of one cell.
fn spread(cells: &[CellSummary]) -> Option<BeliefNote> {
    let spread_of = |cell: &CellSummary| {
        let values = &cell.metrics.iter().find(|found| found.metric == Metric::Throughput)?.values;
        let logs: Vec<f64> = values.iter().map(|value| value.ln()).collect();
        MeanTest::of(&logs).ok().map(|test| test.sd)
    };
    let all = cells.iter().filter_map(|cell| Some((cell, spread_of(cell)?)));
    let (cell, sd) = all.max_by(|a, b| a.1.total_cmp(&b.1))?;
    let text = format!(
        "requests per second differ between trials of one cell by {} at most (standard deviation, {})",
        percent(sd),
        cell.label
    );
    Some(if sd > SPREAD {
        reservation(text, "quiet the machine, lengthen the samples, or run more blocks")
    } else {
        speaks_for(text)
    })
}

fn drifted(data: &RunData<'_>) -> Option<BeliefNote> {
    let found = drift(data)?;
    let size = found.ratio - 1.0;
    if found.p_value >= DRIFT_P || size.abs() <= data.margin {
        return Some(speaks_for(format!("no drift over {}", count(found.blocks, "block"))));
    }
    let text = format!(
        "requests per second {} by {} from the first to the last of {} (Spearman p = {:.3}); comparisons within blocks \
         are spared, values of cells are not",
        if size > 0.0 { "rose" } else { "fell" },
        percent(size.abs()),
        count(found.blocks, "block"),
        found.p_value
    );
    Some(reservation(text, "look for heat, growing data or neighbours; run again when the machine is quiet"))
}

/// Verdicts that do not survive Holm's correction: each was drawn at the stated level, many together are not.
fn many_questions(data: &RunData<'_>, comparisons: &[Comparison]) -> Option<BeliefNote> {
    let shown = |found: &&Comparison| matches!(found.verdict, Verdict::Faster | Verdict::Slower);
    let drawn = comparisons.iter().filter(shown).count();
    let lost = comparisons
        .iter()
        .filter(shown)
        .filter(|found| found.p_holm.is_some_and(|p| p >= 1.0 - data.confidence))
        .count();
    (lost > 0).then(|| {
        let text = format!(
            "{lost} of {} as faster or slower would not stand if all metrics of the pair were asked at once (Holm)",
            if drawn == 1 { "1 verdict".to_owned() } else { format!("{drawn} verdicts") }
        );
        reservation(text, "rest conclusions on a metric chosen beforehand, or run more blocks")
    })
}

/// Warnings and problems of the host, problems first.
fn environment(facts: &[Fact]) -> Vec<BeliefNote> {
    let mut facts: Vec<&Fact> = facts.iter().filter(|fact| fact.severity >= Severity::Warning).collect();
    facts.sort_by_key(|fact| std::cmp::Reverse(fact.severity));
    facts
        .into_iter()
        .map(|fact| {
            let value = fact.value.as_deref().unwrap_or("cannot be read");
            BeliefNote {
                level: BeliefLevel::WithReservations,
                text: format!("{} ({value}): {}", fact.title, fact.effect),
                remedy: fact.remedy.clone(),
            }
        })
        .collect()
}
