//! A controller's end of a load by agents: gives each its part, begins all at one moment, and merges what they report.
//!
//! Invariants: a load begins only where every clock is known within a millisecond; an interval of an agent counts once,
//! and its part is over only when all that its manifest counts is here; an agent that is lost, late or wrong ends the
//! load with its name. Dropping it ends the load of every agent.

use super::error::AgentError;
use super::facts::boot_id;
use super::link::{Heard, can_reopen, open};
use super::member::Member;
use super::muster::Muster;
use super::parcel::{most, unwrap};
use super::portable::{Packed, goes_to_loopback, pack, source};
use super::protocol::{Errand, LEASE_NS, Order, Report, Wish, sums};
use super::tally;
use crate::GenerateError;
use crate::each::wall_clock_of;
use crate::orders::timeline;
use crate::processes::{peak_rss_bytes, split};
use crate::sent_windows::KEPT_MAX;
use crate::set_up::SetUp;
use engine::{
    Assembly, EngineError, IntervalData, Most, Overdue, Part, Step, Timeline, machine_ns, on_clock,
    setup_time_max,
};
use fleet::{DeliveryError, Parcel};
use plan::LoadJob;
use schema::agents::{AgentReport, FleetReport};
use schema::experiment::LoadModel;
use schema::plan::DriverChoice;
use schema::trial::AgentInterval;
use std::sync::mpsc::RecvTimeoutError;
use std::time::{Duration, Instant};
use units::{Clock, MonotonicClock};

/// Between the decision to begin and the trial's origin, besides four of the longest round trips.
const START_AHEAD_NS: u64 = 250_000_000;
/// The same for each agent: many of one host are woken one after the other.
const START_AHEAD_EACH_NS: u64 = 5_000_000;
/// Most for all of them: more agents than that are on many hosts.
const START_AHEAD_ALL_NS: u64 = 2_000_000_000;
/// How much longer than its workers an agent may take to be ready: it starts processes.
const SETUP_GRACE: Duration = Duration::from_secs(30);
/// Slowest way on which the files of a load are waited for, in bytes a second.
const TRANSFER_MIN: u64 = 1_000_000;
/// How often beats are looked at while agents are waited for.
const POLL: Duration = Duration::from_millis(100);
/// Intervals that an agent may be ahead of this clock, the one that an early end cuts among them.
const INTERVALS_SPARE: u64 = 10;
/// Between two attempts at a link that was cut.
const RELINK_POLL: Duration = Duration::from_millis(100);

/// Agents at work on one load.
pub(crate) struct Agents {
    muster: Muster,
    packed: Packed,
    timeline: Timeline,
    clock: MonotonicClock,
    /// As they came: an interval of each agent in full would fill the memory where there are many.
    parts: Assembly<engine::Parcel>,
    most: Most,
    merged: IntervalData,
    set_up: SetUp,
    peak_rss_bytes: u64,
    /// Origin on this clock, on the wall clock, and the first measured interval, once they are decided.
    begun: Option<(u64, u64)>,
    measure_from: Option<u64>,
    /// Stamps of measured intervals that the check of arrivals has for sure.
    stamps: usize,
    is_stopped: bool,
    /// The agent that somebody asked to end the load, if one was.
    stopped_by: Option<String>,
}

impl Agents {
    /// Reaches the agents of `job` and gives each its part; returns once all have set up their connections, with no
    /// request sent. Meanwhile `opening` gets the number of open connections.
    pub(crate) fn start(job: &LoadJob, opening: &mut dyn FnMut(u64)) -> Result<Self, GenerateError> {
        let packed = pack(job)?;
        let Some(fleet) = &job.load.fleet else {
            return Err(EngineError::Plan("a load without a fleet has no agents").into());
        };
        let muster = Muster::call(fleet, &allowed(job), &errand(job))?;
        check_hosts(job, &muster)?;
        Self::with(job, packed, muster, opening)
    }

    /// As [`Self::start`], with agents that were reached.
    pub(super) fn with(
        job: &LoadJob,
        packed: Packed,
        muster: Muster,
        opening: &mut dyn FnMut(u64),
    ) -> Result<Self, GenerateError> {
        let timeline = timeline(job);
        let mut agents = Self {
            muster,
            packed,
            timeline,
            clock: MonotonicClock::starting_now(),
            parts: Assembly::on(&timeline),
            most: most(job),
            merged: IntervalData::default(),
            set_up: SetUp::new(job.load.driver),
            peak_rss_bytes: 0,
            begun: None,
            measure_from: None,
            stamps: 0,
            is_stopped: false,
            stopped_by: None,
        };
        let parts = split(Part::whole(&job.load), agents.muster.members.len() as u32);
        if parts.len() < agents.muster.members.len() {
            return Err(EngineError::Plan("a fleet needs at least one worker an agent").into());
        }
        for (member, part) in agents.muster.members.iter_mut().zip(parts) {
            member.part = part;
            agents.parts.join();
            let job = Box::new(agents.packed.job.clone());
            member.say(&Order::Load { job, part, files: agents.packed.files.clone() });
        }
        let limit = setup_time_max(&job.load, job.origins()) + SETUP_GRACE + transfer_max(&agents.packed);
        agents.await_ready(limit, opening)?;
        Ok(agents)
    }

    /// Waits until each agent is ready, for no longer than `limit` without a word of progress.
    fn await_ready(&mut self, limit: Duration, opening: &mut dyn FnMut(u64)) -> Result<(), GenerateError> {
        let mut since = Instant::now();
        let mut opened = 0;
        while self.muster.members.iter().any(|member| !member.is_ready) {
            match self.muster.news.recv_timeout(POLL) {
                Ok((number, heard)) => self.take(number, heard)?,
                Err(RecvTimeoutError::Timeout) => self.look_for_silence()?,
                Err(RecvTimeoutError::Disconnected) => return Err(all_gone()),
            }
            self.muster.beat();
            let now_open = self.muster.members.iter().map(|member| member.opened).sum();
            if now_open != opened {
                (opened, since) = (now_open, Instant::now());
                opening(opened);
            }
            if since.elapsed() > limit {
                let late = self.muster.members.iter().filter(|member| !member.is_ready);
                let names = late.map(Member::name).collect();
                return Err(AgentError::Silent { names, silence: since.elapsed() }.into());
            }
        }
        self.set_up.check()
    }

    /// As [`engine::Generator::begin`], for all agents, at one moment of this clock. Returns the moment of the wall clock,
    /// too.
    pub(crate) fn begin(&mut self, measure_from: Option<u64>) -> (MonotonicClock, u64) {
        let rtt_max_ns =
            self.muster.members.iter().map(|member| member.clock().rtt_max_ns).max().unwrap_or(0);
        let agents = self.muster.members.len() as u64;
        let waking_ns = (agents * START_AHEAD_EACH_NS).min(START_AHEAD_ALL_NS);
        let ahead_ns = START_AHEAD_NS + waking_ns + 4 * rtt_max_ns;
        let origin_ns = machine_ns() + ahead_ns;
        let origin_unix_ns = wall_clock_of(origin_ns);
        (self.begun, self.measure_from) = (Some((origin_ns, origin_unix_ns)), measure_from);
        for number in 0..self.muster.members.len() {
            self.say_begin(number);
        }
        self.clock = self.clock.with_origin_after(on_clock(&self.clock, origin_ns));
        (self.clock, origin_unix_ns)
    }

    fn say_begin(&self, number: usize) {
        let member = &self.muster.members[number];
        if let (Some((origin_ns, origin_unix_ns)), Some(offset)) = (self.begun, member.offset) {
            let (origin_ns, measure_from) = (offset.there(origin_ns), self.measure_from);
            member.say(&Order::Begin { origin_ns, origin_unix_ns, measure_from });
        }
    }

    /// As [`engine::Generator::measure_soon`], for all agents.
    pub(crate) fn measure_soon(&mut self) -> u64 {
        let from = self.timeline.next_border(self.clock.now());
        self.measure_from = Some(from);
        self.muster.members.iter().for_each(|member| member.say(&Order::MeasureFrom(from)));
        from
    }

    pub(crate) fn stop(&mut self) {
        if !self.is_stopped {
            self.is_stopped = true;
            self.muster.members.iter().for_each(|member| member.say(&Order::Stop));
        }
    }

    /// The agent by which somebody ended the load of all, as by Ctrl-C.
    pub(crate) fn stopped_by(&self) -> Option<&str> {
        self.stopped_by.as_deref()
    }

    pub(crate) const fn driver(&self) -> DriverChoice {
        self.set_up.driver
    }

    pub(crate) const fn connections(&self) -> (u64, u64) {
        (self.set_up.asked, self.set_up.established)
    }

    /// Of all processes of all agents that have ended, and of this one.
    pub(crate) fn peak_rss_bytes(&self) -> u64 {
        self.peak_rss_bytes + peak_rss_bytes().unwrap_or_default()
    }

    /// What each agent did so far.
    pub(crate) fn report(&self, model: LoadModel) -> FleetReport {
        let agents: Vec<AgentReport> = self.muster.members.iter().map(Member::report).collect();
        tally::report(agents, model == LoadModel::Open)
    }

    /// Waits up to `timeout` for the next interval that all agents have ended; beside it what each did in it.
    pub(crate) fn next(
        &mut self,
        timeout: Duration,
    ) -> Result<(Step<'_>, Vec<AgentInterval>), GenerateError> {
        loop {
            self.muster.beat();
            if let Some((index, parts)) = self.parts.take() {
                let lines = self.merge(index, parts)?;
                return Ok((Step::Interval(&self.merged), lines));
            }
            if self.parts.has_ended() {
                return Ok((Step::Ended, Vec::new()));
            }
            match self.muster.news.recv_timeout(timeout) {
                Ok((number, heard)) => self.take(number, heard)?,
                Err(RecvTimeoutError::Timeout) => {
                    self.look_for_silence()?;
                    self.parts.waited(timeout).map_err(|overdue| self.overdue(overdue))?;
                    return Ok((Step::Waiting, Vec::new()));
                }
                Err(RecvTimeoutError::Disconnected) => return Err(all_gone()),
            }
        }
    }

    /// Parts by agent, so that what is merged does not depend on who was first. Gives the lines by agent.
    fn merge(
        &mut self,
        index: u64,
        mut parts: Vec<(usize, engine::Parcel)>,
    ) -> Result<Vec<AgentInterval>, GenerateError> {
        parts.sort_by_key(|(number, _)| *number);
        let is_measured = self.measure_from.is_some_and(|from| index >= from);
        let mut lines = tally::Lines::of(parts.len());
        let mut sum: Option<IntervalData> = None;
        for (number, part) in parts {
            let member = &mut self.muster.members[number];
            let part = part.unpack().map_err(|error| member.garbled(error.to_string()))?;
            lines.add(&member.plan.name, &part);
            member.tally.add(&part, is_measured);
            match &mut sum {
                Some(sum) => sum.merge(&part),
                None => sum = Some(part),
            }
        }
        self.merged = sum.unwrap_or_default();
        if is_measured {
            self.count_stamps();
        }
        Ok(lines.all())
    }

    /// Lets agents send no more stamps than anybody takes.
    fn count_stamps(&mut self) {
        let (before, start_ns) = (self.stamps, self.merged.counts.start_ns);
        // Earlier ones are of a window that may have ended before.
        let own = self.merged.sent.stamps.iter().filter(|(intended_ns, _)| *intended_ns >= start_ns);
        self.stamps += own.count();
        if before < KEPT_MAX && self.stamps >= KEPT_MAX {
            self.muster.members.iter().for_each(|member| member.say(&Order::StampsAreEnough));
        }
    }

    /// Nothing waits to be heard: who has said nothing for as long as a lease lasts is lost.
    fn look_for_silence(&self) -> Result<(), GenerateError> {
        let now_ns = machine_ns();
        let is_silent =
            |member: &&Member| !member.has_ended && now_ns.saturating_sub(member.heard_ns) > LEASE_NS;
        let names: Vec<String> = self.muster.members.iter().filter(is_silent).map(Member::name).collect();
        if names.is_empty() {
            return Ok(());
        }
        Err(AgentError::Silent { names, silence: Duration::from_nanos(LEASE_NS) }.into())
    }

    #[cold]
    fn overdue(&self, overdue: Overdue) -> GenerateError {
        let names = overdue.sources.into_iter().map(|number| self.muster.members[number].name()).collect();
        AgentError::Silent { names, silence: overdue.silence }.into()
    }

    fn take(&mut self, number: usize, heard: Heard) -> Result<(), GenerateError> {
        let member = &mut self.muster.members[number];
        match heard {
            Heard::Report(at_ns, report) => {
                member.heard_ns = at_ns;
                return self.take_report(number, at_ns, *report);
            }
            Heard::Garbled(cause) => return Err(member.garbled(cause).into()),
            // Of an older link, or of an agent that has said all.
            Heard::Closed(link, _) if link != member.links || member.has_ended => {}
            Heard::Closed(_, cause) => self.relink(number, cause)?,
            Heard::Reopened(Err(cause)) => return Err(member.lost(cause).into()),
            Heard::Reopened(Ok(ends)) => {
                let Muster { session, sender, .. } = &self.muster;
                let (session, sender) = (session.clone(), sender.clone());
                self.muster.members[number].take_link(ends, number, &session, &sender)?;
                self.say_again(number);
            }
        }
        Ok(())
    }

    /// All orders that an agent may have missed while its link was cut. Each means the same when it comes twice.
    fn say_again(&self, number: usize) {
        let member = &self.muster.members[number];
        self.say_begin(number);
        if let Some(from) = self.measure_from {
            member.say(&Order::MeasureFrom(from));
        }
        if self.stamps >= KEPT_MAX {
            member.say(&Order::StampsAreEnough);
        }
        if self.is_stopped {
            member.say(&Order::Stop);
        }
        member.say(&Order::HeldBelow(member.inbox.held_below()));
    }

    fn take_report(&mut self, number: usize, at_ns: u64, report: Report) -> Result<(), GenerateError> {
        let member = &mut self.muster.members[number];
        match report {
            Report::Hello { .. } => {}
            Report::Stopped => {
                self.stopped_by.get_or_insert(member.name());
                self.stop();
            }
            Report::State(_) | Report::Ended => {
                return Err(member.garbled("it reports what nobody asked for").into());
            }
            Report::Refused(cause) => return Err(AgentError::Refused { name: member.name(), cause }.into()),
            Report::Clock { number, at_ns: there_ns } => {
                let exchange = member.take_clock(number, there_ns, at_ns);
                if let (Some(exchange), Some(grid)) = (exchange, &mut member.grid) {
                    grid.look(exchange);
                }
            }
            Report::Wants(hashes) => {
                for sha256 in hashes {
                    let path = source(&self.packed, &sha256);
                    let path =
                        path.ok_or_else(|| member.garbled("it wants a file that the load does not have"))?;
                    member.send_file(&sha256, path.to_owned());
                }
            }
            Report::Opening(opened) => member.opened = opened,
            // Said again on a new link.
            Report::Ready(_) if member.is_ready => {}
            Report::Ready(part) => {
                member.is_ready = true;
                self.set_up.add(&part);
            }
            Report::Parcel(parcel) => self.take_parcel(number, *parcel)?,
            Report::Closing { manifest, peak_rss_bytes, steal_share } => {
                if !member.has_ended {
                    member.steal_share = steal_share;
                    self.peak_rss_bytes = self.peak_rss_bytes.saturating_add(peak_rss_bytes);
                }
                let closed = member.inbox.close(manifest);
                closed.map_err(|source| AgentError::Delivery { name: member.name(), source })?;
                self.finish(number)?;
            }
            Report::Failed { missed_start: true, .. } => return Err(EngineError::MissedStart.into()),
            Report::Failed { cause, .. } => {
                return Err(AgentError::Failed { name: member.name(), cause }.into());
            }
        }
        Ok(())
    }

    fn take_parcel(&mut self, number: usize, parcel: Parcel<String>) -> Result<(), GenerateError> {
        let ended_max = self.intervals_max();
        let member = &mut self.muster.members[number];
        if fleet::digest(parcel.body.as_bytes()) != parcel.digest {
            return Err(member.garbled("an interval is damaged").into());
        }
        let (said, place) = (parcel.sums, parcel.interval);
        // A stream keeps its order: what is ahead would only fill the memory.
        if place > member.inbox.held_below() {
            let source = DeliveryError::Ahead(place);
            return Err(AgentError::Delivery { name: member.name(), source }.into());
        }
        let texts = member.inbox.take(parcel);
        let texts = texts.map_err(|source| AgentError::Delivery { name: member.name(), source })?;
        for text in texts {
            let part = unwrap(&text, self.most).map_err(|cause| member.garbled(cause))?;
            let index = part.counts().index;
            if sums(part.counts()) != said {
                return Err(member.garbled("the counts of an interval are not those in it").into());
            }
            if index >= ended_max || !member.follows(index) {
                return Err(member.garbled("an interval is not the next that can have ended").into());
            }
            self.parts.put(number, index, part);
        }
        member.say(&Order::HeldBelow(member.inbox.held_below()));
        self.finish(number)
    }

    /// More intervals than these cannot have ended anywhere; none before the begin.
    fn intervals_max(&self) -> u64 {
        let Some((origin_ns, _)) = self.begun else { return 0 };
        machine_ns().saturating_sub(origin_ns) / self.timeline.interval_ns.max(1) + INTERVALS_SPARE
    }

    /// Lets an agent go once all of its part is here.
    fn finish(&mut self, number: usize) -> Result<(), GenerateError> {
        let member = &mut self.muster.members[number];
        let is_whole = member.inbox.is_whole();
        if !is_whole.map_err(|source| AgentError::Delivery { name: member.name(), source })? {
            return Ok(());
        }
        member.say(&Order::Whole);
        if !member.has_ended {
            member.has_ended = true;
            self.parts.end(number);
        }
        Ok(())
    }

    /// A link was cut in the middle of the load: it is made again within the lease, or the agent is lost.
    fn relink(&mut self, number: usize, cause: Option<String>) -> Result<(), GenerateError> {
        let member = &mut self.muster.members[number];
        member.lose_link();
        if self.begun.is_none() || !can_reopen(&member.plan) {
            return Err(member.lost(cause.unwrap_or_else(|| "its link ended".to_owned())).into());
        }
        let (plan, sender) = (member.plan.clone(), self.muster.sender.clone());
        std::thread::spawn(move || {
            let end = Instant::now() + Duration::from_nanos(LEASE_NS);
            let reopened = loop {
                match open(&plan, &[]) {
                    Ok(ends) => break Ok(ends),
                    Err(cause) if Instant::now() >= end => break Err(cause),
                    Err(_) => std::thread::sleep(RELINK_POLL),
                }
            };
            // Nobody listens where the load is over.
            let _ = sender.send((number, Heard::Reopened(reopened)));
        });
        Ok(())
    }
}

fn all_gone() -> GenerateError {
    EngineError::Worker("every link to an agent is gone".to_owned()).into()
}

/// Time in which each agent has its files.
fn transfer_max(packed: &Packed) -> Duration {
    let bytes = packed.files.values().map(|file| file.bytes).sum::<u64>();
    Duration::from_secs(bytes.div_ceil(TRANSFER_MIN))
}

/// What people hear who ask an agent what it does.
fn errand(job: &LoadJob) -> Errand {
    let host = rustix::system::uname().nodename().to_string_lossy().into_owned();
    Errand { wish: Wish::Load, about: format!("{} for {host}, process {}", job.url, std::process::id()) }
}

/// What an agent on this host may load: where this load goes, which this process may.
fn allowed(job: &LoadJob) -> Vec<String> {
    let mut all = vec![job.to.ip().to_string()];
    all.extend(job.further.iter().map(|further| further.to.ip().to_string()));
    all
}

/// A target on this host's loopback is not there for agents on other hosts: they would load something else.
fn check_hosts(job: &LoadJob, muster: &Muster) -> Result<(), AgentError> {
    if !goes_to_loopback(job) {
        return Ok(());
    }
    let own = boot_id();
    let elsewhere =
        muster.members.iter().find(|member| member.facts.as_ref().is_some_and(|facts| facts.boot_id != own));
    match elsewhere {
        None => Ok(()),
        Some(member) => Err(AgentError::NotPortable {
            what: "a load of a loopback address",
            cause: format!("agent {} is on another host, and its loopback is not this one's", member.name()),
            remedy: "give the target's address in the network, or agents on this host",
        }),
    }
}
