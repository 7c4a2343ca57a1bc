//! What `prony run --dry-run`, `prony knee --dry-run` and `prony soak --dry-run` print: the plan as it will be run, and the
//! time it takes.

use crate::format;
use crate::format::counted;
use crate::host::instrument::instrument_line;
use schema::calibration::CalibrationSummary;
use schema::capacity::LadderOrder;
use schema::plan::{CellPlan, ExperimentPlan, PhasePlan, PinPlan, TargetPlan, TargetSource};
use schema::soak::StopWhen;
use std::fmt::Write as _;
use units::Nanos;
use units::format::ranges;

/// How long a plan takes, in nanoseconds. All are estimates before anything ran.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PlanTime {
    /// Load of all trials, if every warm-up is as short as may be.
    pub least_ns: f64,
    /// Load of all trials, if every warm-up is as long as may be.
    pub most_ns: f64,
    /// Load of the most trials that a search may need, with the longest warm-up; 0 where there is no search.
    pub search_ns: f64,
    /// From earlier runs of the same name; absent where there are none.
    pub by_clock: Option<ClockTime>,
}

/// What earlier runs say of the time that trials take, starts and stops included.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ClockTime {
    /// Of one trial.
    pub trial_ns: u64,
    /// Of all planned trials.
    pub all_ns: f64,
    /// How many runs say so.
    pub runs: u64,
}

/// The plan and its time, section by section.
#[must_use]
pub fn plan_text(plan: &ExperimentPlan, limit: Option<&CalibrationSummary>, time: &PlanTime) -> String {
    let mut text = format!("{}\n  {}\n\n", plan.name, plan.question);
    text += &targets(plan);
    text += &scenarios(plan);
    text += "cells\n";
    text.extend(plan.cells.iter().map(cell));
    text += &phases(&plan.phases);
    text += &cpus(&plan.pin);
    if let Some(control) = &plan.design.control {
        let _ = writeln!(text, "hidden control\n  {} repeats {}", control.cell, control.of);
    }
    let _ = writeln!(text, "instrument\n  {}", instrument_line(limit));
    text += &knee(plan, time);
    text += &soak(plan);
    if plan.search().is_none() && plan.soak.is_none() {
        text += &order(plan);
    }
    text + &duration(plan, time)
}

fn targets(plan: &ExperimentPlan) -> String {
    let line = |target: &TargetPlan| {
        let source = match &target.source {
            TargetSource::Manifest { folder, .. } => folder.clone(),
            TargetSource::Url { url, .. } => url.clone(),
            TargetSource::Command { command, .. } => command.join(" "),
            TargetSource::Image { image, command, .. } => {
                format!("image {image} {}", command.join(" ")).trim_end().to_owned()
            }
            TargetSource::Reference { .. } => "the reference target inside prony".to_owned(),
        };
        format!("  {:<24} {source}\n", target.name)
    };
    "targets\n".to_owned() + &plan.targets.iter().map(line).collect::<String>()
}

fn scenarios(plan: &ExperimentPlan) -> String {
    let mut text = String::new();
    for scenario in &plan.scenarios {
        let _ = writeln!(text, "scenario {}", scenario.name);
        for entry in &scenario.requests {
            let _ = writeln!(text, "  {:<24} {} {}", entry.name, entry.request.method, entry.request.path);
        }
        if let Some(session) = &scenario.session {
            let _ = writeln!(text, "  in sessions of {}", session.words());
        }
    }
    text
}

fn cell(cell: &CellPlan) -> String {
    let processes = match cell.load.processes {
        0 | 1 => String::new(),
        several => format!(" in {several} processes"),
    };
    let workers = counted(cell.load.workers.into(), "worker");
    let mut text = format!("  {:<6} {}, {workers}{processes}\n", cell.id, cell.label);
    if !cell.limits.is_none() {
        let _ = writeln!(text, "  {:<6} limits: {}", "", cell.limits);
    }
    text
}

fn phases(phases: &PhasePlan) -> String {
    format!(
        "phases\n  warm-up {}, then {} of {}\n",
        warmup(phases),
        counted(phases.samples.into(), "sample"),
        Nanos(phases.sample_ns)
    )
}

fn cpus(pin: &PinPlan) -> String {
    let list = |cpus: &Option<Vec<u32>>| cpus.as_ref().map_or_else(|| "any".to_owned(), |cpus| ranges(cpus));
    let mut text = format!("CPUs\n  generator {}, target {}", list(&pin.generator), list(&pin.target));
    if pin.services.is_some() {
        let _ = write!(text, ", services {}", list(&pin.services));
    }
    text.push('\n');
    if let Some(weakness) = &pin.weakness {
        let _ = writeln!(text, "  weakness: {weakness}");
    }
    text
}

fn order(plan: &ExperimentPlan) -> String {
    let mut text = format!("order (seed {})\n", plan.seed);
    for block in 1..=plan.blocks {
        let cells: Vec<&str> =
            plan.order.iter().filter(|trial| trial.block == block).map(|trial| trial.cell.as_str()).collect();
        let _ = writeln!(text, "  block {block:<3} {}", cells.join(" "));
    }
    text
}

/// What a knee run adds; empty for other runs.
fn knee(plan: &ExperimentPlan, time: &PlanTime) -> String {
    let Some(capacity) = &plan.capacity else { return String::new() };
    let Some(search) = &capacity.search else {
        let order = match capacity.order {
            LadderOrder::Random => "in random order",
            LadderOrder::UpDown => "rising and falling in turn",
        };
        return format!("ladder\n  {order}\n");
    };
    let budget = search.budget_ns.map_or(String::new(), |budget| format!(", within {}", Nanos(budget)));
    format!(
        "search\n  {}\n  from {} per second, between {} and {}; {} confirmations\n  at most {} trials, up to {:.0} minutes of \
         load{budget}\n",
        search.objective.join(" and "),
        search.start_per_s,
        search.lowest_per_s,
        search.highest_per_s,
        search.confirmations,
        search.trials_max,
        minutes(time.search_ns)
    )
}

/// What a soak adds; empty for other runs.
fn soak(plan: &ExperimentPlan) -> String {
    let Some(soak) = &plan.soak else { return String::new() };
    let end = match soak.stop_when {
        StopWhen::Leak => "ends once a leak is certain",
        StopWhen::Never => "goes on to its end, whatever it finds",
    };
    let each = |values: Vec<&str>| if values.is_empty() { "none".to_owned() } else { values.join("; ") };
    format!(
        "soak\n  each sample is a window; counters are read every {}; it {end}\n  what is not exhausted within {} is no \
         leak\n  thresholds: {}\n  alarms: {}\n",
        Nanos(soak.tick_ns),
        Nanos(soak.horizon_ns),
        each(plan.thresholds.iter().map(|one| one.text.as_str()).collect()),
        each(plan.alarms.iter().map(|one| one.text.as_str()).collect()),
    )
}

/// By the phases, and by the clock where earlier runs tell; and when blocks end.
fn duration(plan: &ExperimentPlan, time: &PlanTime) -> String {
    let trials = plan.order.len();
    let [least, most] = [time.least_ns, time.most_ns].map(|time| format!("{:.1}", minutes(time)));
    let range = if least == most { most } else { format!("{least} to {most}") };
    let mut text = format!("\n{}, {range} minutes of load\n", counted(trials as u64, "trial"));
    if let Some(clock) = &time.by_clock {
        let _ = writeln!(
            text,
            "about {:.1} minutes with starts and stops: a trial took {} before ({})",
            minutes(clock.all_ns),
            format::nanos(clock.trial_ns),
            counted(clock.runs, "run")
        );
    }
    text + &stopping(plan, time)
}

fn stopping(plan: &ExperimentPlan, time: &PlanTime) -> String {
    let Some(stopping) = &plan.design.stopping else { return String::new() };
    let until = stopping.precision.map(|wanted| format!("until ± {}", format::chosen_percent(wanted)));
    let within = stopping.budget_ns.map(|ns| format!("within {}", Nanos(ns)));
    let decided = stopping.until_decided.then(|| "until every claim is decided".to_owned());
    let until = match (decided, until) {
        (Some(decided), Some(until)) => Some(format!("{decided} or {until}")),
        (decided, until) => decided.or(until),
    };
    let rules: Vec<String> = until.into_iter().chain(within).collect();
    let mut text = format!(
        "these are the first {}; then one by one, {}, at most {}\n",
        counted(stopping.blocks_pilot.into(), "block"),
        rules.join(" and "),
        stopping.blocks_max
    );
    let pilot_ns = time.by_clock.map_or(time.least_ns, |clock| clock.all_ns);
    if stopping.budget_ns.is_some_and(|budget| pilot_ns > budget as f64) {
        text += "the budget is shorter than they take: the run will end with fewer and give no interval\n";
    }
    text
}

/// How long warm-up is, and what it waits for.
fn warmup(phases: &PhasePlan) -> String {
    let (least, most) = (Nanos(phases.warmup_at_least_ns), Nanos(phases.warmup_at_most_ns));
    if most <= least {
        return least.to_string();
    }
    let gc = phases.warmup_also.gc_at_most_every_ns;
    let gc =
        gc.map_or(String::new(), |every| format!(", at most one garbage collection in {}", Nanos(every)));
    let cpu = phases.warmup_also.cpu_within;
    let cpu = cpu.map_or(String::new(), |within| format!(", its CPU within {} %", within * 100.0));
    format!("{least} to {most}, until the target is steady{gc}{cpu}")
}

fn minutes(ns: f64) -> f64 {
    ns / 60e9
}
