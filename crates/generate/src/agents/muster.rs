//! Agents that were reached: each has said who it is, and its clock is known.

use super::error::AgentError;
use super::link::{Ends, Heard, open, remedy};
use super::member::{Member, News};
use super::protocol::{BEAT_NS, Errand, Report, VERSION, Wish};
use engine::machine_ns;
use fleet::{ClockError, EXCHANGES_MIN, Exchange, Grid, Offset};
use rustix::process::getpid;
use schema::agents::AgentRecord;
use schema::fleet::{AgentPlan, FleetPlan};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

/// Time for an agent's first word: a program such as ssh connects first.
const HELLO_MAX: Duration = Duration::from_secs(30);
/// Time for one answer of a clock.
const ANSWER_MAX: Duration = Duration::from_secs(2);
/// Exchanges after which a clock that is known too badly is given up.
const EXCHANGES_MAX: usize = 8 * EXCHANGES_MIN;

/// Agents that are ready for a load. Dropping it ends their links.
pub(super) struct Muster {
    pub(super) members: Vec<Member>,
    pub(super) news: Receiver<News>,
    pub(super) sender: Sender<News>,
    pub(super) session: String,
    beat_ns: u64,
}

impl Muster {
    /// Reaches every agent of a fleet; those on this host may load `allow`.
    ///
    /// # Errors
    /// The first agent that cannot be reached, is another prony, refuses, or whose clock is not known well enough.
    pub(super) fn call(fleet: &FleetPlan, allow: &[String], errand: &Errand) -> Result<Self, AgentError> {
        let mut all = Vec::new();
        for plan in &fleet.agents {
            let ends = open(plan, allow)
                .map_err(|cause| AgentError::Unreached { name: plan.name.clone(), cause })?;
            all.push((plan.clone(), ends));
        }
        let mut muster = Self::greet(all, errand)?;
        muster.learn_clocks()?;
        Ok(muster)
    }

    /// Over streams that are open, until each has said who it is.
    pub(super) fn greet(all: Vec<(AgentPlan, Ends)>, errand: &Errand) -> Result<Self, AgentError> {
        let (sender, news) = channel();
        let mut muster =
            Self { members: Vec::new(), news, sender, session: session(), beat_ns: machine_ns() };
        for (number, (plan, ends)) in all.into_iter().enumerate() {
            let mut member = Member::new(plan, number, &muster.session, errand.clone());
            member.take_link(ends, number, &muster.session, &muster.sender)?;
            muster.members.push(member);
        }
        muster.hear_hellos()?;
        Ok(muster)
    }

    fn hear_hellos(&mut self) -> Result<(), AgentError> {
        let end = Instant::now() + HELLO_MAX;
        while let Some(missing) = self.members.iter().position(|member| member.facts.is_none()) {
            let left = end.saturating_duration_since(Instant::now());
            match self.news.recv_timeout(left.min(Duration::from_nanos(BEAT_NS))) {
                Ok((number, heard)) => self.take_hello(number, heard)?,
                Err(_) if !left.is_zero() => {}
                Err(_) => {
                    let cause = format!("it said nothing for {} s", HELLO_MAX.as_secs());
                    return Err(self.unreached(missing, cause));
                }
            }
            // The first may wait for the last for longer than its lease.
            self.beat();
        }
        Ok(())
    }

    /// Renews every lease and looks at every clock, once a second.
    pub(super) fn beat(&mut self) {
        let now_ns = machine_ns();
        if now_ns.saturating_sub(self.beat_ns) < BEAT_NS {
            return;
        }
        self.beat_ns = now_ns;
        let at_work = |member: &&mut Member| member.facts.is_some() && !member.has_ended;
        self.members.iter_mut().filter(at_work).for_each(Member::ask_clock);
    }

    fn take_hello(&mut self, number: usize, heard: Heard) -> Result<(), AgentError> {
        let member = &mut self.members[number];
        match heard {
            Heard::Report(_, report) => match *report {
                Report::Hello { version: VERSION, facts } => member.facts = Some(facts),
                Report::Hello { version, .. } => {
                    return Err(AgentError::Version { name: member.name(), theirs: version, ours: VERSION });
                }
                Report::Refused(cause) => return Err(AgentError::Refused { name: member.name(), cause }),
                Report::Clock { .. } if member.facts.is_some() => {}
                Report::State(state) if member.facts.is_some() => member.state = Some(state),
                _ => return Err(member.garbled("it reports before it said who it is")),
            },
            Heard::Garbled(cause) => return Err(self.unreached(number, cause)),
            Heard::Closed(_, cause) => {
                let cause = cause.unwrap_or_else(|| "it ended before it said who it is".to_owned());
                let helps = remedy(&member.plan).filter(|_| !cause.contains("remedy: "));
                let cause = helps.map_or(cause.clone(), |helps| format!("{cause}\n  remedy: {helps}"));
                return Err(self.unreached(number, cause));
            }
            Heard::Reopened(_) => {}
        }
        Ok(())
    }

    /// In rounds, so that no agent waits for a word while others are asked.
    pub(super) fn learn_clocks(&mut self) -> Result<(), AgentError> {
        let mut exchanges: Vec<Vec<Exchange>> = vec![Vec::new(); self.members.len()];
        let is_open = |all: &[Exchange]| {
            all.len() < EXCHANGES_MIN || (all.len() < EXCHANGES_MAX && Offset::best(all).is_err())
        };
        while exchanges.iter().any(|all| is_open(all)) {
            for (number, all) in exchanges.iter_mut().enumerate().filter(|(_, all)| is_open(all)) {
                all.push(self.exchange(number)?);
            }
        }
        for (member, all) in self.members.iter_mut().zip(&exchanges) {
            let offset = Offset::best(all)
                .map_err(|source: ClockError| AgentError::Clock { name: member.name(), source })?;
            (member.offset, member.grid) = (Some(offset), Some(Grid::new(offset)));
        }
        Ok(())
    }

    fn exchange(&mut self, number: usize) -> Result<Exchange, AgentError> {
        self.members[number].ask_clock();
        let end = Instant::now() + ANSWER_MAX;
        loop {
            let left = end.saturating_duration_since(Instant::now());
            match self.news.recv_timeout(left) {
                Ok((from, heard)) => {
                    if let Some(exchange) = self.take_answer(from, heard)?.filter(|_| from == number) {
                        return Ok(exchange);
                    }
                }
                Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => {
                    let cause = format!("its clock did not answer within {} s", ANSWER_MAX.as_secs());
                    return Err(self.unreached(number, cause));
                }
            }
        }
    }

    fn take_answer(&mut self, number: usize, heard: Heard) -> Result<Option<Exchange>, AgentError> {
        let member = &mut self.members[number];
        match heard {
            Heard::Report(heard_ns, report) => {
                member.heard_ns = heard_ns;
                match *report {
                    Report::Clock { number, at_ns } => Ok(member.take_clock(number, at_ns, heard_ns)),
                    Report::Refused(cause) => Err(AgentError::Refused { name: member.name(), cause }),
                    Report::State(state) => {
                        member.state = Some(state);
                        Ok(None)
                    }
                    _ => Ok(None),
                }
            }
            Heard::Garbled(cause) => Err(member.garbled(cause)),
            Heard::Closed(_, cause) => {
                let cause = cause.unwrap_or_else(|| "its link ended before the load began".to_owned());
                Err(member.lost(cause))
            }
            Heard::Reopened(_) => Ok(None),
        }
    }

    fn unreached(&self, number: usize, cause: String) -> AgentError {
        AgentError::Unreached { name: self.members[number].name(), cause }
    }
}

impl Drop for Muster {
    fn drop(&mut self) {
        // All at once: each is waited for when it is dropped.
        self.members.iter().for_each(Member::hang_up);
    }
}

/// Unique among all attempts at loads: host, process, moment.
fn session() -> String {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |time| time.as_nanos());
    let host = rustix::system::uname().nodename().to_string_lossy().into_owned();
    format!("{host}-{}-{now}-{}", getpid().as_raw_nonzero(), machine_ns())
}

/// Reaches every agent of a fleet once, and says what each is.
///
/// # Errors
/// As for a load: the first agent that cannot be reached, is another prony, refuses, or whose clock is not known well
/// enough.
pub fn inspect(fleet: &FleetPlan) -> Result<Vec<AgentRecord>, AgentError> {
    let muster = Muster::call(fleet, &[], &Errand { wish: Wish::Look, about: String::new() })?;
    let share = 1.0 / muster.members.len() as f64;
    let record = |member: &Member| AgentRecord {
        name: member.name(),
        facts: member.facts.as_deref().cloned().unwrap_or_default(),
        clock: member.clock(),
        share,
    };
    Ok(muster.members.iter().map(record).collect())
}
