//! All runs that somebody watches: one follower for each, shared by its viewers.
//!
//! Invariants: what a viewer gets first and what comes after fit together without a gap; a viewer who is too slow loses
//! events, is shown a new beginning, and slows nobody.

use super::findings::Found;
use super::frame::{Frame, frame};
use super::watch::{Event, INTERVALS_MAX};
use crate::quiet::Quiet;
use schema::lab::{LiveEnd, LiveHello};
use schema::plan::PinPlan;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio::sync::broadcast;

/// Events that wait for a slow viewer before it is shown a new beginning.
const QUEUE: usize = 128;

/// The runs that are watched, by name.
#[derive(Default)]
pub(crate) struct Hub {
    followed: Mutex<HashMap<String, Arc<Followed>>>,
    /// One at a time is begun, so that two viewers share one.
    pub(super) begins: tokio::sync::Mutex<()>,
}

/// One run that is watched.
pub(crate) struct Followed {
    pin: PinPlan,
    told: Mutex<Told>,
    frames: broadcast::Sender<Frame>,
}

/// What viewers have been sent, as a newcomer is sent it.
struct Told {
    hello: LiveHello,
    end: Option<LiveEnd>,
}

/// What a viewer begins with.
pub(crate) struct Beginning {
    pub(crate) first: Vec<Frame>,
    /// Whether nothing comes after it.
    pub(crate) has_ended: bool,
}

fn held<T>(lock: &Mutex<T>) -> MutexGuard<'_, T> {
    // What is inside is replaced whole: a panic elsewhere leaves nothing half done.
    lock.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Followed {
    /// Of a run with this beginning, whose generator has these CPUs.
    pub(super) fn new(pin: PinPlan, hello: LiveHello) -> Self {
        let (frames, _) = broadcast::channel(QUEUE);
        Self { pin, told: Mutex::new(Told { hello, end: None }), frames }
    }

    /// Those who watch now.
    pub(super) fn viewers(&self) -> usize {
        self.frames.receiver_count()
    }

    /// All so far, and all that comes after it.
    pub(crate) fn join(&self) -> (Beginning, broadcast::Receiver<Frame>) {
        let told = held(&self.told);
        let frames = self.frames.subscribe();
        let mut first = vec![frame("hello", &told.hello)];
        first.extend(told.end.iter().map(|end| frame("end", end)));
        (Beginning { first, has_ended: told.end.is_some() }, frames)
    }

    pub(super) fn tell(&self, event: Event) {
        let mut told = held(&self.told);
        let frame = told.take(event);
        // Nobody listening is no error.
        let _ = self.frames.send(frame);
    }

    pub(super) fn tell_found(&self, Found { findings, fleet }: Found) {
        let mut told = held(&self.told);
        let is_known = |finding: &schema::analysis::Finding| told.hello.findings.contains(finding);
        let mut new: Vec<Frame> = findings
            .iter()
            .filter(|finding| !is_known(finding))
            .map(|finding| frame("finding", finding))
            .collect();
        told.hello.findings = findings;
        if fleet.is_some() && told.hello.fleet != fleet {
            new.push(frame("fleet", &fleet));
            told.hello.fleet = fleet;
        }
        for frame in new {
            let _ = self.frames.send(frame);
        }
    }

    pub(super) fn has_ended(&self) -> bool {
        held(&self.told).end.is_some()
    }
}

impl Told {
    /// Notes an event for those who come later, and gives it as it is sent.
    fn take(&mut self, event: Event) -> Frame {
        match event {
            Event::Plan(order) => {
                self.hello.order = order;
                frame("plan", &self.hello.order)
            }
            Event::Interval(interval) => {
                let intervals = &mut self.hello.intervals;
                if intervals.last().is_some_and(|last| last.trial != interval.trial) {
                    intervals.clear();
                }
                intervals.drain(..(intervals.len() + 1).saturating_sub(INTERVALS_MAX));
                let sent = frame("interval", &interval);
                intervals.push(interval);
                sent
            }
            Event::Trial(trial) => {
                self.hello.trials.retain(|known| known.id != trial.id);
                let sent = frame("trial", &trial);
                self.hello.trials.push(trial);
                sent
            }
            Event::Progress(progress) => {
                self.hello.card.trials_done = progress.trials_done;
                self.hello.card.trials_planned = progress.trials_planned;
                self.hello.card.state = progress.state;
                let sent = frame("progress", &progress);
                self.hello.progress = progress;
                sent
            }
            Event::End(card) => {
                let labels =
                    (std::mem::take(&mut self.hello.card.tags), std::mem::take(&mut self.hello.card.note));
                self.hello.card = card;
                (self.hello.card.tags, self.hello.card.note) = labels;
                let end = LiveEnd { card: self.hello.card.clone() };
                let sent = frame("end", &end);
                self.end = Some(end);
                sent
            }
        }
    }
}

impl Hub {
    /// Leaves the CPUs of the generators that are watched.
    pub(super) fn keep_off(&self, quiet: Option<&Quiet>) {
        if let Some(quiet) = quiet {
            let followed: Vec<Arc<Followed>> = held(&self.followed).values().cloned().collect();
            quiet.keep_off(followed.iter().map(|followed| &followed.pin));
        }
    }

    /// The follower of a run that has not ended.
    pub(super) fn known(&self, id: &str) -> Option<Arc<Followed>> {
        held(&self.followed).get(id).filter(|known| !known.has_ended()).cloned()
    }

    pub(super) fn add(&self, id: &str, followed: &Arc<Followed>) {
        held(&self.followed).insert(id.to_owned(), followed.clone());
    }

    pub(super) fn viewers(&self) -> usize {
        held(&self.followed).values().map(|followed| followed.viewers()).sum()
    }

    pub(super) fn forget(&self, id: &str, followed: &Arc<Followed>) {
        let mut all = held(&self.followed);
        if all.get(id).is_some_and(|known| Arc::ptr_eq(known, followed)) {
            all.remove(id);
        }
    }
}
