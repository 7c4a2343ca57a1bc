//! All runs that somebody watches: one follower for each, shared by its viewers.
//!
//! Invariants: a follower looks at files only while somebody watches; what a viewer gets first and what comes after
//! fit together without a gap; a viewer who is too slow loses events, is told so by a new beginning, and slows nobody.

use super::findings::Findings;
use super::frame::{Frame, frame};
use super::watch::{Event, INTERVALS_MAX, Watch};
use crate::blocking::blocking;
use crate::error::ApiError;
use crate::lab::Shared;
use axum::http::StatusCode;
use schema::lab::{LiveEnd, LiveHello};
use schema::plan::PinPlan;
use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::sync::broadcast;

/// How often files are looked at; intervals are a second long.
const LOOK_EVERY: Duration = Duration::from_millis(400);
/// Events that wait for a slow viewer before it is told a new beginning.
const QUEUE: usize = 128;
/// Most viewers of all runs together.
const VIEWERS_MAX: usize = 200;

/// The runs that are watched, by name.
#[derive(Default)]
pub(crate) struct Hub {
    followed: Mutex<HashMap<String, Arc<Followed>>>,
    /// One at a time is begun, so that two viewers share one.
    begins: tokio::sync::Mutex<()>,
}

/// One run that is watched.
pub(crate) struct Followed {
    pin: PinPlan,
    told: Mutex<Told>,
    frames: broadcast::Sender<Frame>,
}

/// What viewers have been told, as one who comes now is told it.
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
    /// All so far, and all that comes after it.
    pub(crate) fn join(&self) -> (Beginning, broadcast::Receiver<Frame>) {
        let told = held(&self.told);
        let frames = self.frames.subscribe();
        let mut first = vec![frame("hello", &told.hello)];
        first.extend(told.end.iter().map(|end| frame("end", end)));
        (Beginning { first, has_ended: told.end.is_some() }, frames)
    }

    fn tell(&self, event: Event) {
        let mut told = held(&self.told);
        let frame = told.take(event);
        // Nobody listening is no error.
        let _ = self.frames.send(frame);
    }

    fn tell_findings(&self, findings: Vec<schema::analysis::Finding>) {
        let mut told = held(&self.told);
        let is_known = |finding: &schema::analysis::Finding| told.hello.findings.contains(finding);
        let new: Vec<Frame> = findings
            .iter()
            .filter(|finding| !is_known(finding))
            .map(|finding| frame("finding", finding))
            .collect();
        told.hello.findings = findings;
        for frame in new {
            let _ = self.frames.send(frame);
        }
    }

    fn has_ended(&self) -> bool {
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
    /// The follower of a run, begun where there is none.
    pub(crate) async fn follow(&self, lab: &Shared, id: &str) -> Result<Arc<Followed>, ApiError> {
        let _one_at_a_time = self.begins.lock().await;
        if self.viewers() >= VIEWERS_MAX {
            return Err(ApiError::new(
                StatusCode::SERVICE_UNAVAILABLE,
                format!("{VIEWERS_MAX} viewers are watching already"),
                "close a page of a run in progress",
            ));
        }
        if let Some(known) = held(&self.followed).get(id).filter(|known| !known.has_ended()) {
            return Ok(known.clone());
        }
        let (asked, name) = (lab.clone(), id.to_owned());
        let (path, watch, followed) = blocking(move || begin(&asked, &name)).await?;
        let followed = Arc::new(followed);
        if !followed.has_ended() {
            held(&self.followed).insert(id.to_owned(), followed.clone());
            tokio::spawn(keep_looking(lab.clone(), id.to_owned(), path, watch, followed.clone()));
        }
        self.keep_off(lab);
        Ok(followed)
    }

    /// Leaves the CPUs of the generators that are watched.
    fn keep_off(&self, lab: &Shared) {
        if let Some(quiet) = &lab.quiet {
            let followed: Vec<Arc<Followed>> = held(&self.followed).values().cloned().collect();
            quiet.keep_off(followed.iter().map(|followed| &followed.pin));
        }
    }

    fn viewers(&self) -> usize {
        held(&self.followed).values().map(|followed| followed.frames.receiver_count()).sum()
    }

    fn forget(&self, id: &str, followed: &Arc<Followed>) {
        let mut all = held(&self.followed);
        if all.get(id).is_some_and(|known| Arc::ptr_eq(known, followed)) {
            all.remove(id);
        }
    }
}

/// Reads what is there so far, so that the first viewer gets all of it.
fn begin(lab: &Shared, id: &str) -> Result<(PathBuf, Watch, Followed), ApiError> {
    let path = lab.folder(id)?.path().to_owned();
    let card = lab.card(id)?;
    let mut watch = Watch::begin(&path).ok_or_else(|| {
        let cause = card.cause.clone().unwrap_or_else(|| "run.json cannot be read".to_owned());
        ApiError::told(StatusCode::UNPROCESSABLE_ENTITY, &cause)
    })?;
    let hello = watch.hello(card);
    let (frames, _) = broadcast::channel(QUEUE);
    let pin = watch.run().plan.pin.clone();
    let followed = Followed { pin, told: Mutex::new(Told { hello, end: None }), frames };
    watch.look().into_iter().for_each(|event| followed.tell(event));
    Ok((path, watch, followed))
}

/// Looks until the run ends or nobody watches any more.
async fn keep_looking(lab: Shared, id: String, path: PathBuf, mut watch: Watch, followed: Arc<Followed>) {
    let mut ticks = tokio::time::interval(LOOK_EVERY);
    ticks.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
    let mut findings = Findings::default();
    // The first viewer joins after this was begun.
    let mut idle_looks = 0;
    while !followed.has_ended() && idle_looks < 25 {
        ticks.tick().await;
        idle_looks = if followed.frames.receiver_count() == 0 { idle_looks + 1 } else { 0 };
        let looked = blocking(move || {
            let events = watch.look();
            Ok((watch, events))
        });
        let Ok((back, events)) = looked.await else { break };
        watch = back;
        let trials = events.iter().filter(|event| matches!(event, Event::Trial(_))).count();
        let is_running = !events.iter().any(|event| matches!(event, Event::End(_)));
        events.into_iter().for_each(|event| followed.tell(event));
        if is_running {
            findings
                .look(&path, trials > 0)
                .await
                .into_iter()
                .for_each(|found| followed.tell_findings(found));
        }
    }
    lab.hub.forget(&id, &followed);
    lab.outdate();
    lab.hub.keep_off(&lab);
}
