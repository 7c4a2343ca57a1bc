//! The agents of a fleet without a load: what each is and does, and ending them in order.
//!
//! Invariants: each agent is asked on a thread of its own, so one that does not answer delays no other; an agent that cannot
//! be reached is an answer with its name. An agent that lives with its load only (`here`, `command`) is not started to be
//! ended. Absent on purpose: the load (`control`).

use super::error::AgentError;
use super::link::{Heard, can_reopen, open};
use super::muster::Muster;
use super::protocol::{Errand, LEASE_NS, Report, Wish};
use engine::machine_ns;
use schema::agents::{AgentState, FleetListFile, ListedAgent};
use schema::fleet::{AgentPlan, FleetPlan};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::time::Duration;

/// How often beats are looked at while an agent's end is waited for.
const POLL: Duration = Duration::from_millis(100);

/// How agents shall end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ending {
    /// After the load that they make.
    Drain,
    /// At once; what was measured is kept, as after Ctrl-C.
    Stop,
}

/// What is heard of an agent that shall end.
#[derive(Debug)]
pub enum Progress {
    /// It takes no more loads, and does this at the moment.
    Took(AgentState),
    /// It has ended.
    Ended,
    /// It lives with its load only.
    NoNeed,
    /// It did not.
    Failed(AgentError),
}

/// Asks every agent of a fleet what it is and does. Those that cannot be reached say why.
#[must_use]
pub fn list(fleet: &FleetPlan) -> FleetListFile {
    let asked: Vec<_> = fleet
        .agents
        .iter()
        .map(|plan| {
            let plan = plan.clone();
            std::thread::spawn(move || listed(plan))
        })
        .collect();
    let answered = asked.into_iter().filter_map(|thread| thread.join().ok());
    FleetListFile { agents: answered.collect(), ..FleetListFile::default() }
}

fn listed(plan: AgentPlan) -> ListedAgent {
    let name = plan.name.clone();
    match reach(plan, Wish::Look).and_then(|mut muster| muster.learn_clocks().map(|()| muster)) {
        Ok(muster) => {
            let member = &muster.members[0];
            let (facts, clock, state) =
                (member.facts.as_deref().cloned(), Some(member.clock()), member.state.clone());
            ListedAgent { name, facts, clock, state, error: None }
        }
        Err(error) => ListedAgent { name, error: Some(error.to_string()), ..ListedAgent::default() },
    }
}

fn reach(plan: AgentPlan, wish: Wish) -> Result<Muster, AgentError> {
    let ends = open(&plan, &[]).map_err(|cause| AgentError::Unreached { name: plan.name.clone(), cause })?;
    Muster::greet(vec![(plan, ends)], &Errand { wish, about: String::new() })
}

/// Lets every agent of a fleet end; what is heard comes with the agent's number, until each has ended or failed.
#[must_use]
pub fn end(fleet: &FleetPlan, ending: Ending) -> Receiver<(usize, Progress)> {
    let (sender, heard) = channel();
    for (number, plan) in fleet.agents.iter().cloned().enumerate() {
        let sender = sender.clone();
        std::thread::spawn(move || {
            let last = match can_reopen(&plan) {
                true => {
                    see_end(plan, ending, number, &sender).map_or_else(Progress::Failed, |()| Progress::Ended)
                }
                false => Progress::NoNeed,
            };
            // Nobody listens any more where the command was interrupted.
            let _ = sender.send((number, last));
        });
    }
    heard
}

/// Gives the order and waits for the agent's end.
fn see_end(
    plan: AgentPlan,
    ending: Ending,
    number: usize,
    sender: &Sender<(usize, Progress)>,
) -> Result<(), AgentError> {
    let wish = match ending {
        Ending::Drain => Wish::Drain,
        Ending::Stop => Wish::Stop,
    };
    let mut muster = reach(plan, wish)?;
    loop {
        if let Some(state) = muster.members[0].state.take() {
            let _ = sender.send((number, Progress::Took(state)));
        }
        let heard = muster.news.recv_timeout(POLL);
        muster.beat();
        let member = &mut muster.members[0];
        match heard {
            Ok((_, Heard::Report(at_ns, report))) => {
                member.heard_ns = at_ns;
                match *report {
                    Report::State(state) => member.state = Some(state),
                    Report::Clock { number, at_ns: there_ns } => {
                        member.take_clock(number, there_ns, at_ns);
                    }
                    Report::Ended => return Ok(()),
                    Report::Refused(cause) => {
                        return Err(AgentError::Refused { name: member.name(), cause });
                    }
                    _ => return Err(member.garbled("it reports what nobody asked for")),
                }
            }
            Ok((_, Heard::Garbled(cause))) => return Err(member.garbled(cause)),
            Ok((_, Heard::Closed(..))) => {
                return Err(AgentError::EndUnknown { name: member.name() });
            }
            Ok((_, Heard::Reopened(_))) => {}
            Err(RecvTimeoutError::Timeout) if machine_ns().saturating_sub(member.heard_ns) <= LEASE_NS => {}
            Err(_) => return Err(AgentError::EndUnknown { name: member.name() }),
        }
    }
}
