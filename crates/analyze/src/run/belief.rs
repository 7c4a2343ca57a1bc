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
use super::outliers;
use super::steady;
use crate::stats::student::MeanTest;
use crate::trial::{CANARY_SAID, CLOCK_RATE_SAID_PPM, CLOCK_STEP_SAID_NS, COMPETING_SAID, STEAL_SAID};
use crate::words::{self, Listed, Noun, count, listed, percent};
use schema::analysis::{Belief, BeliefLevel, BeliefNote, CellSummary, Comparison, Family, OutlyingTrial};
use schema::design::StopReason;
use schema::doctor::{Fact, Severity};
use schema::metric::Metric;
use schema::plan::Replicas;
use schema::run::RunFile;
use schema::said;
use schema::said::{Joint, Said};
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
    family: Option<&Family>,
    outlying: &[OutlyingTrial],
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
    notes.extend(corrected_clock(data));
    notes.extend(set_clock(data));
    notes.extend(slow_trials(data));
    notes.extend(outliers::notes(outlying));
    notes.extend(beyond_the_instrument(run));
    notes.extend(spread(cells));
    notes.extend(restarts(data, cells));
    notes.extend(drifted(data));
    notes.extend(control::note(data, comparisons));
    notes.extend(stopped(data));
    notes.extend(family.and_then(together));
    notes.extend(data.plan.pin.weakness.iter().map(|weakness| {
        reservation(
            weakness.as_str(),
            said!(
                "belief.use_machine_more_cores",
                "use a machine with more cores, or set `pin` so that target and generator part"
            ),
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
fn summary(level: BeliefLevel, notes: &[BeliefNote], failures: Option<&BeliefNote>) -> Said {
    let first = notes.first().map(|note| &note.text);
    let failures = failures.map(|note| &note.text).filter(|text| Some(*text) != first);
    let first = Said::list(Joint::Semicolon, first.into_iter().chain(failures));
    let reservations = notes.iter().filter(|note| note.level == BeliefLevel::WithReservations).count();
    match level {
        BeliefLevel::Yes => said!("belief.yes", "These numbers can be believed: {first}.", first),
        BeliefLevel::WithReservations => {
            let more =
                if reservations > 1 { said!("belief.see_notes", "; see the notes") } else { Said::default() };
            let reservations = count(reservations, Noun::Reservation);
            said!(
                "belief.with_reservations",
                "These numbers can be believed with {reservations}: {first}{more}.",
                reservations,
                first,
                more
            )
        }
        BeliefLevel::No => said!("belief.no", "These numbers must not be used: {first}.", first),
    }
}

fn note(level: BeliefLevel, text: Said, remedy: Said) -> BeliefNote {
    BeliefNote { level, text, remedy: Some(remedy) }
}

fn reservation(text: impl Into<Said>, remedy: impl Into<Said>) -> BeliefNote {
    note(BeliefLevel::WithReservations, text.into(), remedy.into())
}

fn speaks_for(text: Said) -> BeliefNote {
    BeliefNote { level: BeliefLevel::Yes, text, remedy: None }
}

/// Void and failed trials, and cells that are left with too few.
fn outcomes(data: &RunData<'_>, cells: &[CellSummary]) -> Vec<BeliefNote> {
    let all = data.trials.len();
    let bad = ids(data, |outcome| outcome != TrialOutcome::Valid).len();
    if all == 0 {
        let remedy =
            said!("belief.run_experiment_again_prony", "run the experiment again, or `prony run --resume`");
        return vec![note(
            BeliefLevel::No,
            said!("belief.no_trial_run_end", "no trial was run to its end"),
            remedy,
        )];
    }
    let level = if 2 * bad > all { BeliefLevel::No } else { BeliefLevel::WithReservations };
    let mut notes: Vec<BeliefNote> = [
        (
            TrialOutcome::Failed,
            [said!("belief.failed", "failed"), said!("belief.failed", "failed")],
            said!(
                "belief.read_their_target_log",
                "read their target.log, mend the target, then `prony run --resume`"
            ),
        ),
        (
            TrialOutcome::Void,
            [said!("belief.is_void", "is void"), said!("belief.are_void", "are void")],
            said!("belief.cure_reasons_then_run", "cure the reasons, then run the experiment again"),
        ),
    ]
    .into_iter()
    .filter_map(|(outcome, [singular, plural], remedy)| {
        let ids = ids(data, |found| found == outcome);
        (!ids.is_empty()).then(|| {
            let reasons = reasons(data, outcome);
            let text = said!(
                "belief.outcomes",
                "{n} of {trials} {ended} ({which}){reasons}",
                n = ids.len(),
                trials = count(all, Noun::Trial),
                ended = if ids.len() == 1 { singular } else { plural },
                which = listed(Listed::Trial, &ids),
                reasons
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
            said!("belief.one_trial_valid", "the one trial is valid")
        } else {
            said!("belief.all_trials_valid", "all {all} trials are valid", all)
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
    let text = said!(
        "belief.fewer_than_valid_trials",
        "{thin} of {cells} {plural} fewer than {least} valid trials, so there is no interval \
         ({cell}: {trials})",
        thin = thin.len(),
        cells = count(cells.len(), Noun::Cell),
        plural = if thin.len() == 1 { "has" } else { "have" },
        least = MIN_TRIALS,
        cell = &worst.label,
        trials = worst.trials_valid
    );
    Some(reservation(
        text,
        said!(
            "belief.run_more_blocks",
            "run {missing} more block{plural}",
            missing,
            plural = if missing == 1 { "" } else { "s" }
        ),
    ))
}

fn ids(data: &RunData<'_>, chosen: impl Fn(TrialOutcome) -> bool) -> Vec<u32> {
    data.trials.iter().filter(|trial| chosen(trial.file.outcome)).map(|trial| trial.file.id).collect()
}

/// Up to two reasons of different kinds, as the first trial says them that has them.
fn reasons(data: &RunData<'_>, outcome: TrialOutcome) -> Said {
    let mut reasons: Vec<&Said> = Vec::new();
    for trial in data.trials.iter().filter(|trial| trial.file.outcome == outcome) {
        for reason in &trial.file.reasons {
            let is_new = reasons.iter().all(|known| known.kind() != reason.kind());
            if reasons.len() < 2 && is_new {
                reasons.push(reason);
            }
        }
    }
    if reasons.is_empty() {
        return Said::default();
    }
    said!("belief.because", ": {reasons}", reasons = Said::list(Joint::Semicolon, reasons))
}

fn interrupted(data: &RunData<'_>) -> Option<BeliefNote> {
    let (planned, had) = (data.plan.order.len(), data.trials.len());
    (had > 0 && had < planned && data.plan.soak.is_none()).then(|| {
        let text = said!(
            "belief.run_ended_after",
            "the run ended after {had} of {trials}",
            had,
            trials = count(planned, Noun::Trial)
        );
        reservation(text, said!("belief.finish_prony_run_resume", "finish it with `prony run --resume`"))
    })
}

/// Which rule ended a run that decided while it ran.
fn stopped(data: &RunData<'_>) -> Option<BeliefNote> {
    let stopping = data.plan.design.stopping.as_ref()?;
    let stopped = stopping.stopped.as_ref()?;
    let blocks = count(data.plan.blocks as usize, Noun::Block);
    let text = said!(
        "belief.stopped",
        "the run ended after {blocks}: {reason}",
        blocks,
        reason = Said::from(stopped.text.as_str())
    );
    let is_reached = matches!(stopped.reason, StopReason::Precision | StopReason::Decided);
    let is_short = stopping.precision.is_some() && !is_reached;
    Some(if is_short {
        let wanted = percent(stopping.precision.unwrap_or_default());
        let text =
            said!("belief.wanted_not_reached", "{text}; the wanted ± {wanted} is not reached", text, wanted);
        reservation(
            text,
            said!(
                "belief.raise_design_budget_blocks",
                "raise `design.budget` or `blocks`, or ask for less with `design.precision`"
            ),
        )
    } else {
        speaks_for(text)
    })
}

/// Trials of cells that the plan does not have.
fn strangers(data: &RunData<'_>) -> Option<BeliefNote> {
    let strangers = data.trials.iter().filter(|trial| data.cell(&trial.file.cell).is_none());
    let ids: Vec<u32> = strangers.map(|trial| trial.file.id).collect();
    (!ids.is_empty()).then(|| {
        let text = said!(
            "belief.cell_plan_does_not",
            "{trials} of a cell that the plan does not have, left out",
            trials = listed(Listed::Trial, &ids)
        );
        reservation(
            text,
            said!("belief.check_all_trial_folders", "check that all trial folders belong to this run"),
        )
    })
}

/// Trials whose clock ran backwards.
fn backwards(data: &RunData<'_>) -> Option<BeliefNote> {
    (!data.backwards.is_empty()).then(|| {
        let text = said!(
            "belief.clock_ran_backwards_left",
            "the clock ran backwards in {trials}, left out",
            trials = listed(Listed::Trial, &data.backwards)
        );
        reservation(
            text,
            said!(
                "belief.look_damaged_files_files",
                "look for damaged files or files of two runs in one folder; run these trials again"
            ),
        )
    })
}

fn settings(data: &RunData<'_>) -> Option<BeliefNote> {
    (!data.settings_usable).then(|| {
        let text = said!(
            "belief.plan_confidence_level_margin",
            "the plan's confidence level or margin cannot be used; {confidence} and {margin} \
             were taken",
            confidence = percent(data.confidence),
            margin = percent(data.margin)
        );
        reservation(
            text,
            said!(
                "belief.set_confidence_between_margin",
                "set `confidence` between 0.5 and 1 and `margin` above 0"
            ),
        )
    })
}

/// A warm-up of fixed length was the user's choice and promises nothing.
fn not_level(data: &RunData<'_>) -> Option<BeliefNote> {
    let phases = &data.plan.phases;
    if phases.warmup_at_most_ns <= phases.warmup_at_least_ns {
        return None;
    }
    let (ids, waited) = steady::ran_out(data)?;
    let waited =
        waited.map_or(Said::default(), |waited| said!("belief.because", ": {reasons}", reasons = waited));
    let text = said!(
        "belief.warm_up_ran_out",
        "warm-up ran out before the target was steady in {trials}{waited}",
        trials = listed(Listed::Trial, &ids),
        waited
    );
    Some(reservation(text, said!("belief.raise_warmup_most", "raise `warmup.at_most`")))
}

/// CPU time that others used, which was said but did not void.
fn competing(data: &RunData<'_>) -> Option<BeliefNote> {
    let (worst, ids) = said(data, "competing_cpu", COMPETING_SAID)?;
    let text = said!(
        "belief.other_processes_used_up",
        "other processes used up to {worst} of the trial's CPUs in {trials}",
        worst = percent(worst),
        trials = listed(Listed::Trial, &ids)
    );
    Some(reservation(
        text,
        said!(
            "belief.end_them_give_trial",
            "end them, or give the trial CPUs that nobody else uses (`pin`, isolcpus)"
        ),
    ))
}

/// Steal that was said but did not void (METHOD §9).
fn stolen(data: &RunData<'_>) -> Option<BeliefNote> {
    let (worst, ids) = said(data, "steal", STEAL_SAID)?;
    let text = said!(
        "belief.up_cpu_time_stolen",
        "up to {worst} of the CPU time was stolen from this host in {trials}",
        worst = percent(worst),
        trials = listed(Listed::Trial, &ids)
    );
    Some(reservation(text, said!("belief.use_host_dedicated_cores", "use a host with dedicated cores")))
}

/// Drift of the fixed-work canary that was said but did not void (METHOD §9).
fn changed_speed(data: &RunData<'_>) -> Option<BeliefNote> {
    let (worst, ids) = said(data, "canary", CANARY_SAID)?;
    let text = said!(
        "belief.fixed_amount_work_took",
        "a fixed amount of work took up to {worst} more or less time after the load than before \
         it in {trials}: the CPU changed its speed",
        worst = percent(worst),
        trials = listed(Listed::Trial, &ids)
    );
    Some(reservation(
        text,
        said!(
            "belief.fix_clock_cores_prony",
            "fix the clock of the cores (`prony doctor`), or use a host with dedicated cores"
        ),
    ))
}

/// A clock that was corrected by more than a crystal needs, which was said but did not void.
fn corrected_clock(data: &RunData<'_>) -> Option<BeliefNote> {
    let (worst, ids) = said(data, "clock_rate", CLOCK_RATE_SAID_PPM)?;
    let text = said!(
        "belief.clock_went_faster_or",
        "the clock went up to {ppm} ppm faster or slower than the raw counter behind it in {trials}",
        ppm = words::number(worst),
        trials = listed(Listed::Trial, &ids)
    );
    Some(reservation(
        text,
        said!(
            "belief.wait_until_ntp_has",
            "wait until NTP has the clock right (`chronyc tracking`, `timedatectl timesync-status`)"
        ),
    ))
}

/// A wall clock that was set during the load, which was said but did not void.
fn set_clock(data: &RunData<'_>) -> Option<BeliefNote> {
    let (worst, ids) = said(data, "clock_step", CLOCK_STEP_SAID_NS)?;
    let text = said!(
        "belief.wall_clock_was_set",
        "the wall clock was set by up to {step} during the load in {trials}: durations are right, dates are not",
        step = words::duration(worst),
        trials = listed(Listed::Trial, &ids)
    );
    Some(reservation(
        text,
        said!("belief.let_ntp_set_its", "let NTP set the clock before the run, and keep the host awake"),
    ))
}

/// Trials that a slower machine ran, as its canary tells (METHOD §9). One that did its work all the same did no harm.
fn slow_trials(data: &RunData<'_>) -> Option<BeliefNote> {
    let slow = machine::slow(data)?;
    let by = if slow.factor >= 2.0 {
        said!("belief.times_as_long_as", "{factor} times as long as", factor = words::number(slow.factor))
    } else {
        said!("belief.longer_than", "{factor} longer than", factor = percent(slow.factor - 1.0))
    };
    let effect = match slow.throughput {
        Some(ratio) if ratio >= 1.0 - data.margin => return None,
        None => Said::default(),
        Some(ratio) => said!(
            "belief.answered_fewer_requests_per",
            ", and {plural} answered {ratio} fewer requests per second than the other trials of \
             the same cell: that is the machine, not the target",
            plural = if slow.ids.len() == 1 { "it" } else { "they" },
            ratio = percent(1.0 - ratio)
        ),
    };
    let ids = listed(Listed::Trial, &slow.ids);
    Some(reservation(
        said!(
            "belief.ran_slower_machine_fixed",
            "{ids} ran on a slower machine: a fixed amount of work took {by} in the others{effect}",
            ids,
            by,
            effect
        ),
        said!(
            "belief.find_what_slowed_prony",
            "find what slowed it (`prony doctor`: clock of the cores, a CPU quota, a busy \
             neighbour), then run it again"
        ),
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
    let text = said!(
        "belief.changes_answer_variance_lies",
        "{deed} changes the answer: of the variance of {metric} {trial_share} lies between \
         trials, not between their samples ({cell}, standard deviation {trial_cv})",
        deed = match data.plan.replicas {
            Replicas::Restart => said!("belief.restarting_target", "restarting the target"),
            Replicas::Rebuild => said!("belief.rebuilding_target", "rebuilding the target"),
        },
        metric = levels.metric.words(),
        trial_share = percent(levels.trial_share.unwrap_or_default()),
        cell = &cell.label,
        trial_cv = percent(levels.trial_cv)
    );
    Some(reservation(
        text,
        said!(
            "belief.run_more_blocks_rather",
            "run more blocks rather than longer samples, and look for what differs between starts"
        ),
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
        .map(|found| reservation(found.text.clone(), found.remedy.clone()))
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
    let text = said!(
        "belief.requests_per_second_differ",
        "requests per second differ between trials of one cell by {sd} at most (standard \
         deviation, {cell})",
        sd = percent(sd),
        cell = &cell.label
    );
    Some(if sd > SPREAD {
        reservation(
            text,
            said!(
                "belief.quiet_machine_lengthen_samples",
                "quiet the machine, lengthen the samples, or run more blocks"
            ),
        )
    } else {
        speaks_for(text)
    })
}

fn drifted(data: &RunData<'_>) -> Option<BeliefNote> {
    let found = drift(data)?;
    let size = found.ratio - 1.0;
    if found.p_value >= DRIFT_P || size.abs() <= data.margin {
        return Some(speaks_for(said!(
            "belief.no_drift_over",
            "no drift over {blocks}",
            blocks = count(found.blocks, Noun::Block)
        )));
    }
    let text = said!(
        "belief.requests_per_second_from",
        "requests per second {verb} by {size} from the first to the last of {blocks} (Spearman p \
         = {p}); comparisons within blocks are spared, values of cells are not",
        verb = if size > 0.0 { said!("belief.rose", "rose") } else { said!("belief.fell", "fell") },
        size = percent(size.abs()),
        blocks = count(found.blocks, Noun::Block),
        p = format!("{:.3}", found.p_value)
    );
    Some(reservation(
        text,
        said!(
            "belief.look_heat_growing_data",
            "look for heat, growing data or neighbours; run again when the machine is quiet"
        ),
    ))
}

/// How many verdicts there are, and how sure they are together; nothing of one alone.
fn together(family: &Family) -> Option<BeliefNote> {
    let verdicts: u32 = [family.claimed, family.headline, family.other].iter().map(|part| part.count).sum();
    let note = || BeliefNote { level: BeliefLevel::Yes, text: family.text.clone(), remedy: None };
    (verdicts > 1).then(note)
}

/// Warnings and problems of the host, problems first.
fn environment(facts: &[Fact]) -> Vec<BeliefNote> {
    let mut facts: Vec<&Fact> = facts.iter().filter(|fact| fact.severity >= Severity::Warning).collect();
    facts.sort_by_key(|fact| std::cmp::Reverse(fact.severity));
    facts
        .into_iter()
        .map(|fact| {
            let value =
                fact.value.clone().unwrap_or_else(|| said!("belief.cannot_be_read", "cannot be read"));
            let (title, effect) = (&fact.title, &fact.effect);
            BeliefNote {
                level: BeliefLevel::WithReservations,
                text: said!("belief.fact", "{title} ({value}): {effect}", title, value, effect),
                remedy: fact.remedy.clone(),
            }
        })
        .collect()
}
