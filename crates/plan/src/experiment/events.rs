//! `[[event]]`: exactly one action each, within the samples, on targets that prony started.
//!
//! Invariant: an event that a target of the experiment cannot have is refused: it takes place in every trial.

use super::limits;
use crate::wrong::Wrong;
use schema::event::{DropPackets, EatCpu, Event, EventAction, EventPlan, LimitChange};
use schema::limits::LimitsPlan;
use schema::plan::{CellPlan, PhasePlan, TargetPlan, TargetSource};
use schema::text::Problem;
use units::Nanos;

#[path = "events_of_targets.rs"]
mod of_targets;

/// Most events of one trial.
const EVENTS_MAX: usize = 100;
/// Most threads of `eat_cpu`.
const CORES_MAX: u32 = 1024;

/// The events in order of time.
pub(super) fn resolve(
    events: &[Event],
    targets: &[TargetPlan],
    cells: &[CellPlan],
    phases: &PhasePlan,
) -> Result<Vec<EventPlan>, Wrong> {
    if events.len() > EVENTS_MAX {
        let cause = format!("{} events are more than {EVENTS_MAX}", events.len());
        return Err(Problem::at("event", cause, "use fewer").into());
    }
    let window_ns = phases.sample_ns.saturating_mul(phases.samples.into());
    let mut plans = Vec::with_capacity(events.len());
    for (position, event) in events.iter().enumerate() {
        let key = format!("event.{position}");
        if event.at.0 >= window_ns {
            let cause = format!("{} is not within the samples, which last {}", event.at, Nanos(window_ns));
            return Err(
                Problem::at(&format!("{key}.at"), cause, "make it earlier, or the samples longer").into()
            );
        }
        let action = action(event, targets, &key)?;
        check_targets(&action, targets, &key)?;
        check_limits(&action, cells, &key)?;
        let name = event.name.clone().unwrap_or_else(|| words(&action));
        plans.push(EventPlan { at_ns: event.at.0, name, action });
    }
    plans.sort_by_key(|plan| plan.at_ns);
    Ok(plans)
}

fn action(event: &Event, targets: &[TargetPlan], key: &str) -> Result<EventAction, Wrong> {
    let knobs = event.knob.as_ref();
    let given = [
        event.restart.map(|_| EventAction::Restart),
        event.kill.map(|_| EventAction::Kill),
        event.reload.map(|_| EventAction::Reload),
        event.signal.map(|signal| EventAction::Signal { signal }),
        event.run.clone().map(|command| EventAction::Run { command }),
        event.eat_cpu.map(|EatCpu { cores, time }| EventAction::EatCpu { cores, for_ns: time.0 }),
        knobs.map(|given| of_targets::knobs(given, targets, key)).transpose()?,
        event.limit.map(|LimitChange { cpus }| EventAction::Limit { cpus }),
        event.drop.map(|DropPackets { share, time }| EventAction::Drop { share, for_ns: time.0 }),
    ];
    let mut given = given.into_iter().flatten();
    let (Some(action), None) = (given.next(), given.next()) else {
        let remedy = "give exactly one of restart, kill, reload, signal, run, eat_cpu, knob, limit, drop";
        return Err(Problem::at(key, "an event is one thing that happens", remedy).into());
    };
    if [event.restart, event.kill, event.reload].contains(&Some(false)) {
        let cause = "an event that does not happen";
        return Err(Problem::at(key, cause, "write true, or remove the event").into());
    }
    in_range(&action, key)?;
    if action == EventAction::Reload {
        of_targets::reload(targets, key)?;
    }
    Ok(action)
}

fn in_range(action: &EventAction, key: &str) -> Result<(), Problem> {
    let (name, cause, remedy) = match action {
        EventAction::Run { command } if command.first().is_none_or(String::is_empty) => {
            ("run", "the command is empty", "name a program".to_owned())
        }
        EventAction::EatCpu { cores, for_ns } if !(1..=CORES_MAX).contains(cores) || *for_ns == 0 => {
            ("eat_cpu", "out of range", "give 1 to 1024 cores and a time such as \"5s\"".to_owned())
        }
        EventAction::Limit { cpus } if !limits::CPUS.contains(cpus) => {
            let (least, most) = limits::CPUS.into_inner();
            ("limit.cpus", "out of range", format!("give from {least} to {most} CPUs"))
        }
        EventAction::Drop { share, for_ns } if !(*share > 0.0 && *share <= 1.0) || *for_ns == 0 => {
            ("drop", "out of range", "give a share above 0 up to 1, and a time such as \"5s\"".to_owned())
        }
        _ => return Ok(()),
    };
    Err(Problem::at(&format!("{key}.{name}"), cause, remedy))
}

/// A quota can be changed where there is one, and packets can be dropped in a network of the target's own.
fn check_limits(action: &EventAction, cells: &[CellPlan], key: &str) -> Result<(), Problem> {
    let find = |lacks: fn(&CellPlan) -> bool| cells.iter().find(|cell| lacks(cell));
    match action {
        EventAction::Limit { .. } => match find(|cell| cell.limits.cpus.is_none()) {
            Some(cell) => {
                let cause = format!("`{}` has no CPU quota that could be changed", cell.target);
                let remedy = "give it one to begin with: cpus = … in [limits]";
                Err(Problem::at(&format!("{key}.limit"), cause, remedy))
            }
            None => Ok(()),
        },
        EventAction::Drop { .. } => match find(|cell| !cell.limits.is_isolated()) {
            Some(cell) => {
                let cause =
                    format!("`{}` is on the host's own network, where nothing is dropped", cell.target);
                let remedy = "add network = \"isolated\" to [limits]";
                Err(Problem::at(&format!("{key}.drop"), cause, remedy))
            }
            None => Ok(()),
        },
        _ => Ok(()),
    }
}

/// A server that prony did not start can be neither restarted nor signalled.
fn check_targets(action: &EventAction, targets: &[TargetPlan], key: &str) -> Result<(), Problem> {
    let needs_process = !matches!(action, EventAction::Run { .. } | EventAction::EatCpu { .. });
    let foreign = targets.iter().find(|target| matches!(target.source, TargetSource::Url { .. }));
    match foreign.filter(|_| needs_process) {
        Some(target) => {
            let cause = format!("prony did not start `{}` and will not end or signal it", target.name);
            Err(Problem::at(key, cause, "let prony start it (`use` or `command`), or use `run`"))
        }
        None => Ok(()),
    }
}

fn words(action: &EventAction) -> String {
    match action {
        EventAction::Restart => "restart".to_owned(),
        EventAction::Kill => "kill".to_owned(),
        EventAction::Reload => "reload".to_owned(),
        EventAction::Knob { values } => {
            values.iter().map(|(name, value)| format!("{name} = {value}")).collect::<Vec<_>>().join(", ")
        }
        EventAction::Limit { cpus } => LimitsPlan { cpus: Some(*cpus), ..LimitsPlan::default() }.to_string(),
        EventAction::Drop { share, for_ns } => format!("{share} of packets lost for {}", Nanos(*for_ns)),
        EventAction::Signal { signal } => {
            format!("signal {}", format!("{signal:?}").to_uppercase())
        }
        EventAction::Run { command } => command.join(" "),
        EventAction::EatCpu { cores, for_ns } => format!("{cores} cores busy for {}", Nanos(*for_ns)),
    }
}
