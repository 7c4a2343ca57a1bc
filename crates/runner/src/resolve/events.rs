//! `[[event]]`: exactly one action each, within the samples, on targets that prony started.

use super::Wrong;
use schema::event::{EatCpu, Event, EventAction, EventPlan};
use schema::plan::{PhasePlan, TargetPlan, TargetSource};
use schema::text::Problem;
use units::Nanos;

/// Most events of one trial.
const EVENTS_MAX: usize = 100;
/// Most threads of `eat_cpu`.
const CORES_MAX: u32 = 1024;

/// The events in order of time.
pub(super) fn resolve(
    events: &[Event],
    targets: &[TargetPlan],
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
        let action = action(event, &key)?;
        check_targets(&action, targets, &key)?;
        let name = event.name.clone().unwrap_or_else(|| words(&action));
        plans.push(EventPlan { at_ns: event.at.0, name, action });
    }
    plans.sort_by_key(|plan| plan.at_ns);
    Ok(plans)
}

fn action(event: &Event, key: &str) -> Result<EventAction, Problem> {
    let given = [
        event.restart.map(|_| EventAction::Restart),
        event.kill.map(|_| EventAction::Kill),
        event.signal.map(|signal| EventAction::Signal { signal }),
        event.run.clone().map(|command| EventAction::Run { command }),
        event.eat_cpu.map(|EatCpu { cores, time }| EventAction::EatCpu { cores, for_ns: time.0 }),
    ];
    let mut given = given.into_iter().flatten();
    let (Some(action), None) = (given.next(), given.next()) else {
        let remedy = "give exactly one of restart, kill, signal, run, eat_cpu";
        return Err(Problem::at(key, "an event is one thing that happens", remedy));
    };
    if event.restart == Some(false) || event.kill == Some(false) {
        return Err(Problem::at(key, "an event that does not happen", "write true, or remove the event"));
    }
    match &action {
        EventAction::Run { command } if command.first().is_none_or(String::is_empty) => {
            Err(Problem::at(&format!("{key}.run"), "the command is empty", "name a program"))
        }
        EventAction::EatCpu { cores, for_ns } if !(1..=CORES_MAX).contains(cores) || *for_ns == 0 => {
            let remedy = "give 1 to 1024 cores and a time such as \"5s\"";
            Err(Problem::at(&format!("{key}.eat_cpu"), "out of range", remedy))
        }
        _ => Ok(action),
    }
}

/// A server that prony did not start can be neither restarted nor signalled.
fn check_targets(action: &EventAction, targets: &[TargetPlan], key: &str) -> Result<(), Problem> {
    let needs_process =
        matches!(action, EventAction::Restart | EventAction::Kill | EventAction::Signal { .. });
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
        EventAction::Signal { signal } => {
            format!("signal {}", format!("{signal:?}").to_uppercase())
        }
        EventAction::Run { command } => command.join(" "),
        EventAction::EatCpu { cores, for_ns } => format!("{cores} cores busy for {}", Nanos(*for_ns)),
    }
}
