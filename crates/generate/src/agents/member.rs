//! One agent as its controller sees it: its link, its clock, what came of it.

use super::error::AgentError;
use super::link::{Ends, Heard, Link};
use super::protocol::{Errand, Greeting, Order, VERSION};
use super::tally::Tally;
use engine::{Part, machine_ns};
use fleet::{Exchange, Grid, Inbox, Offset};
use schema::agents::{AgentClock, AgentFacts, AgentReport, AgentState};
use schema::fleet::AgentPlan;
use serde::Serialize;
use std::sync::mpsc::Sender;

/// What is heard, and of which member.
pub(super) type News = (usize, Heard);

/// One agent.
pub(super) struct Member {
    pub(super) plan: AgentPlan,
    errand: Errand,
    pub(super) part: Part,
    link: Option<Link>,
    /// Number of the present link, or of the last one.
    pub(super) links: u64,
    pub(super) facts: Option<Box<AgentFacts>>,
    pub(super) state: Option<AgentState>,
    pub(super) offset: Option<Offset>,
    pub(super) grid: Option<Grid>,
    /// The question about its clock that is under way: its number, and when it was asked.
    asked: Option<(u32, u64)>,
    questions: u32,
    pub(super) heard_ns: u64,
    pub(super) inbox: Inbox<String>,
    /// Index of its last interval.
    last: Option<u64>,
    pub(super) tally: Tally,
    pub(super) is_ready: bool,
    pub(super) has_ended: bool,
    pub(super) opened: u64,
    pub(super) steal_share: Option<f64>,
}

impl Member {
    pub(super) fn new(plan: AgentPlan, number: usize, session: &str, errand: Errand) -> Self {
        Self {
            plan,
            errand,
            part: Part { first: 0, workers: 0 },
            link: None,
            links: 0,
            facts: None,
            state: None,
            offset: None,
            grid: None,
            asked: None,
            questions: 0,
            heard_ns: machine_ns(),
            inbox: Inbox::new(session, number as u32),
            last: None,
            tally: Tally::default(),
            is_ready: false,
            has_ended: false,
            opened: 0,
            steal_share: None,
        }
    }

    /// Takes a link, the first or a new one, and greets.
    pub(super) fn take_link(
        &mut self,
        ends: Ends,
        number: usize,
        session: &str,
        sender: &Sender<News>,
    ) -> Result<(), AgentError> {
        let again = self.links > 0;
        self.links += 1;
        let sender = sender.clone();
        let link = Link::begin(ends, self.links, move |heard| sender.send((number, heard)).is_ok())
            .map_err(|source| AgentError::NoThread { name: self.name(), links: number, source })?;
        link.say(&Greeting {
            version: VERSION,
            prony: env!("CARGO_PKG_VERSION").to_owned(),
            session: session.to_owned(),
            agent: number as u32,
            again,
            errand: self.errand.clone(),
        });
        (self.link, self.asked, self.heard_ns) = (Some(link), None, machine_ns());
        Ok(())
    }

    /// Whether an interval comes after all before it, which it then does.
    pub(super) fn follows(&mut self, index: u64) -> bool {
        let is_next = self.last.is_none_or(|last| index > last);
        self.last = Some(index);
        is_next
    }

    /// Its link is gone.
    pub(super) fn lose_link(&mut self) {
        self.link = None;
    }

    /// Nothing more will be said to it.
    pub(super) fn hang_up(&self) {
        if let Some(link) = &self.link {
            link.hang_up();
        }
    }

    pub(super) fn say(&self, message: &impl Serialize) {
        if let Some(link) = &self.link {
            link.say(message);
        }
    }

    pub(super) fn send_file(&self, sha256: &str, path: std::path::PathBuf) {
        if let Some(link) = &self.link {
            link.send_file(sha256, path);
        }
    }

    /// Asks for its clock. A question that is still open counts no more.
    pub(super) fn ask_clock(&mut self) {
        self.questions += 1;
        let number = self.questions;
        // Before it is written: what the writing thread takes makes the bound wider and never wrong.
        self.asked = Some((number, machine_ns()));
        self.say(&Order::Clock(number));
    }

    /// The exchange that an answer ends; `None` for the answer to an older question.
    pub(super) fn take_clock(&mut self, number: u32, there_ns: u64, answered_ns: u64) -> Option<Exchange> {
        let (_, asked_ns) = self.asked.take_if(|(asked, _)| *asked == number)?;
        Some(Exchange { asked_ns, there_ns, answered_ns })
    }

    pub(super) fn name(&self) -> String {
        self.plan.name.clone()
    }

    pub(super) fn garbled(&self, cause: impl Into<String>) -> AgentError {
        AgentError::Garbled { name: self.name(), cause: cause.into() }
    }

    pub(super) fn lost(&self, cause: impl Into<String>) -> AgentError {
        AgentError::Lost { name: self.name(), cause: cause.into() }
    }

    pub(super) fn clock(&self) -> AgentClock {
        let offset = self.offset.unwrap_or(Offset { offset_ns: 0, bound_ns: 0, exchanges: 0, rtt_max_ns: 0 });
        AgentClock {
            offset_ns: offset.offset_ns,
            bound_ns: offset.bound_ns,
            exchanges: offset.exchanges,
            rtt_max_ns: offset.rtt_max_ns,
            apart_ns: self.grid.map_or(0, |grid| grid.apart_ns()),
        }
    }

    /// What it did.
    pub(super) fn report(&self) -> AgentReport {
        self.tally.fill(AgentReport {
            name: self.name(),
            facts: self.facts.as_deref().cloned().unwrap_or_default(),
            clock: self.clock(),
            first_worker: self.part.first,
            workers: self.part.workers,
            steal_share: self.steal_share,
            parcels: self.inbox.held_below(),
            repeated: self.inbox.repeated(),
            reconnects: self.links.saturating_sub(1),
            ..AgentReport::default()
        })
    }
}
