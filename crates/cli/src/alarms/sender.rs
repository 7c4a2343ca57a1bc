//! Sends alarms on a thread of its own, so that the watch never waits for who gets them.
//!
//! A receiver that fails is tried again, twice. Once the watch has ended, it is not; nor is all sent that waits, but the
//! newest line of each alarm. So the end is late by one exchange and one for each receiver and alarm at most, and no
//! further by a receiver that has failed then.

use super::news::News;
use super::receiver::{Kind, Receiver};
use schema::alarm::AlarmLine;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver as From, Sender as To, channel};
use std::thread::JoinHandle;
use std::time::Duration;

/// How often an alarm is sent to who does not take it.
const TRIES: u32 = 3;
/// Between two tries.
const PAUSE: Duration = Duration::from_secs(1);

/// What is to be sent.
enum Parcel {
    /// An alarm that fires or ends: for all.
    New(AlarmLine),
    /// What fires now: for those who forget.
    Still(Vec<AlarmLine>),
}

/// The thread, and the way to it.
pub(super) struct Sender {
    to: Option<To<Parcel>>,
    is_over: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Sender {
    pub(super) fn begin(receivers: Vec<Receiver>) -> Self {
        let (to, from) = channel();
        let is_over = Arc::new(AtomicBool::new(false));
        let over = is_over.clone();
        let thread = std::thread::spawn(move || Sends { receivers, is_over: over }.all(&from));
        Self { to: Some(to), is_over, thread: Some(thread) }
    }

    pub(super) fn new_line(&self, line: &AlarmLine) {
        self.parcel(Parcel::New(line.clone()));
    }

    pub(super) fn still(&self, lines: Vec<AlarmLine>) {
        if !lines.is_empty() {
            self.parcel(Parcel::Still(lines));
        }
    }

    fn parcel(&self, parcel: Parcel) {
        if let Some(to) = &self.to {
            // The thread lives as long as this.
            let _ = to.send(parcel);
        }
    }
}

impl Drop for Sender {
    fn drop(&mut self) {
        self.is_over.store(true, Ordering::Relaxed);
        self.to = None;
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

struct Sends {
    receivers: Vec<Receiver>,
    is_over: Arc<AtomicBool>,
}

impl Sends {
    fn all(mut self, from: &From<Parcel>) {
        while let Ok(parcel) = from.recv() {
            if self.is_over.load(Ordering::Relaxed) {
                let waiting = std::iter::once(parcel).chain(from);
                newest(waiting).iter().for_each(|line| self.send(&[line], true));
                return;
            }
            match &parcel {
                Parcel::New(line) => self.send(&[line], true),
                Parcel::Still(lines) => self.send(&lines.iter().collect::<Vec<_>>(), false),
            }
        }
    }

    fn send(&mut self, lines: &[&AlarmLine], is_for_all: bool) {
        let is_over = self.is_over.clone();
        self.receivers.retain(|receiver| {
            let is_meant = is_for_all || receiver.kind() == Kind::Alertmanager;
            !is_meant || sent(receiver, lines, &is_over) || !is_over.load(Ordering::Relaxed)
        });
    }
}

/// The last that is to be said of each alarm.
fn newest(parcels: impl Iterator<Item = Parcel>) -> Vec<AlarmLine> {
    let mut lines: Vec<AlarmLine> = Vec::new();
    for parcel in parcels {
        let Parcel::New(line) = parcel else { continue };
        lines.retain(|older| (&older.run, older.trial, &older.when) != (&line.run, line.trial, &line.when));
        lines.push(line);
    }
    lines
}

/// Whether they were taken; why not is a note.
fn sent(receiver: &Receiver, lines: &[&AlarmLine], is_over: &AtomicBool) -> bool {
    for tried in 1.. {
        let Err(error) = receiver.send(lines) else { return true };
        if tried >= TRIES || is_over.load(Ordering::Relaxed) {
            News::Note(format!("{error:#}")).send();
            return false;
        }
        std::thread::sleep(PAUSE);
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;
    use schema::alarm::AlarmState;
    use schema::metric::Unit;
    use schema::version::AlarmVersion;

    fn line(trial: u32, when: &str, state: AlarmState) -> AlarmLine {
        AlarmLine {
            schema: AlarmVersion::default(),
            run: "r".to_owned(),
            trial,
            cell: "c".to_owned(),
            alarm: when.to_owned(),
            when: when.to_owned(),
            state,
            at_wall: String::new(),
            since_wall: String::new(),
            value: 2.0,
            unit: Unit::Nanoseconds,
            bound: 1.0,
            evidence: String::new(),
            abort: false,
        }
    }

    #[test]
    fn of_all_that_waits_at_the_end_only_the_newest_of_each_alarm_is_sent() {
        let [fires, ends] = [AlarmState::Fires, AlarmState::Ends];
        let flaps = [fires, ends].repeat(1_000).into_iter().map(|state| Parcel::New(line(2, "a", state)));
        let first = Parcel::New(line(1, "a", ends));
        let other = [Parcel::Still(vec![line(2, "a", fires)]), Parcel::New(line(2, "b", fires))];
        let lines = newest(std::iter::once(first).chain(flaps).chain(other));
        let short: Vec<_> = lines.iter().map(|line| (line.trial, line.when.as_str(), line.state)).collect();
        assert_eq!(short, [(1, "a", ends), (2, "a", ends), (2, "b", fires)]);
    }
}
