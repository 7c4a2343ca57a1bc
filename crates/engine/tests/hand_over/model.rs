//! The properties, as small runs of workers and controller that assert what must hold in every interleaving.

use super::control::Control;
use super::hand_over::{HandOver, hand_over};
use super::sync::{Receiver, Sender, channel};
use loom::cell::Cell;
use loom::sync::Arc;
use loom::thread::{JoinHandle, spawn};

const WORKERS: usize = 2;
/// One more than there are spares, so that a worker comes to use a buffer that came back.
const INTERVALS: u64 = 4;

/// A buffer whose two halves are equal once it is written; loom sees every access and refuses races.
struct Part {
    index: Cell<u64>,
    half: Cell<u64>,
    other_half: Cell<u64>,
}

impl Default for Part {
    fn default() -> Self {
        Self { index: Cell::new(0), half: Cell::new(0), other_half: Cell::new(0) }
    }
}

impl Part {
    fn begin(&self, index: u64) {
        self.index.set(index);
        self.half.set(0);
        self.other_half.set(0);
    }

    fn write(&self) {
        self.half.set(self.half.get() + self.index.get() + 1);
        self.other_half.set(self.other_half.get() + self.index.get() + 1);
    }
}

enum Message {
    Interval(usize, Box<Part>),
    Ended,
}

/// Fills and hands over `intervals` buffers.
fn work(hand_over: &HandOver<Part>, intervals: u64) {
    let mut current: Box<Part> = Box::default();
    for index in 1..intervals {
        current.write();
        hand_over.swap(&mut current, |next| next.begin(index));
    }
    current.write();
    hand_over.give_last(current);
}

fn start(
    worker: usize,
    intervals: u64,
    sender: Sender<Message>,
) -> (JoinHandle<()>, super::hand_over::Spares<Part>) {
    let finished = sender.clone();
    let (hand_over, spares) = hand_over(move |part| {
        let _ = finished.send(Message::Interval(worker, part));
    });
    let thread = spawn(move || {
        work(&hand_over, intervals);
        let _ = sender.send(Message::Ended);
    });
    (thread, spares)
}

/// Takes what one worker sent; the interval's number, checked to be whole.
fn whole(part: &Part) -> u64 {
    let index = part.index.get();
    assert_eq!((part.half.get(), part.other_half.get()), (index + 1, index + 1), "half written");
    index
}

pub(crate) fn intervals_arrive_once_in_order_and_whole() {
    let (sender, messages) = channel();
    let (threads, spares): (Vec<_>, Vec<_>) = [(0, INTERVALS), (1, 1)]
        .into_iter()
        .map(|(worker, intervals)| start(worker, intervals, sender.clone()))
        .unzip();
    let mut next = [0; WORKERS];
    let mut running = WORKERS;
    while running > 0 {
        match messages.recv() {
            Message::Interval(worker, part) => {
                assert_eq!(whole(&part), next[worker], "lost, doubled or out of order");
                next[worker] += 1;
                spares[worker].give_back(part);
            }
            Message::Ended => running -= 1,
        }
    }
    assert_eq!(next, [INTERVALS, 1]);
    threads.into_iter().for_each(|thread| thread.join().unwrap());
}

pub(crate) fn a_worker_never_waits_for_spares() {
    let (sender, messages): (_, Receiver<Message>) = channel();
    let (thread, spares) = start(0, INTERVALS, sender);
    // Nothing is taken or given back before the worker has ended: loom calls a worker that waits a deadlock.
    thread.join().unwrap();
    for index in 0..INTERVALS {
        match messages.recv() {
            Message::Interval(0, part) => assert_eq!(whole(&part), index),
            _ => panic!("ended before its intervals"),
        }
    }
    drop(spares);
}

pub(crate) fn a_stop_before_the_origin_is_seen() {
    let control = Arc::new(Control::new());
    let seen_by = control.clone();
    let worker = spawn(move || {
        if seen_by.origin_ns().is_some() {
            assert!(seen_by.is_stopped(), "load is made after a stop");
        }
    });
    control.stop();
    control.start_at(7);
    worker.join().unwrap();
}

pub(crate) fn samples_decided_before_the_origin_are_known_at_the_start() {
    let control = Arc::new(Control::new());
    let seen_by = control.clone();
    let worker = spawn(move || {
        if seen_by.origin_ns().is_some() {
            let start =
                seen_by.samples_seen_from(0).expect("samples without warm-up are known at the origin");
            assert_eq!((start.from, start.is_missed), (0, false));
        }
    });
    control.measure_from(0);
    control.start_at(7);
    worker.join().unwrap();
}

/// What a worker knows of the samples at its end.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Learned {
    pub(crate) from: u64,
    pub(crate) is_missed: bool,
    /// The interval it then began.
    pub(crate) learned_at: u64,
}

/// The interval announced in [`samples_begin_at_the_same_border_or_are_missed`].
const FROM: u64 = 1;

/// In time, too late and said so, or never said because it had ended.
pub(crate) fn agrees(learned: Option<Learned>) -> bool {
    learned.is_none_or(|learned| learned.from == FROM && learned.is_missed == (learned.learned_at > FROM))
}

pub(crate) fn samples_begin_at_the_same_border_or_are_missed() {
    let control = Arc::new(Control::new());
    let workers: Vec<_> = (0..WORKERS)
        .map(|_| {
            let control = control.clone();
            spawn(move || {
                (0..INTERVALS - 1).find_map(|index| {
                    let start = control.samples_seen_from(index)?;
                    Some(Learned { from: start.from, is_missed: start.is_missed, learned_at: index })
                })
            })
        })
        .collect();
    control.measure_from(FROM);
    for worker in workers {
        let learned = worker.join().unwrap();
        assert!(agrees(learned), "{learned:?}");
    }
    let late = control.samples_seen_from(FROM + 1).expect("whoever begins an interval now knows");
    assert!(late.is_missed);
}
