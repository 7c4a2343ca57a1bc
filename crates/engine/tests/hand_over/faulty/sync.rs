//! The planted fault: every ordering is relaxed, so neither a store nor a message publishes what was written before.

pub(crate) use loom::sync::atomic::Ordering;
use loom::sync::atomic::{self, Ordering::Relaxed};
use std::collections::VecDeque;
use std::convert::Infallible;
use std::sync::{Arc, Mutex};

#[derive(Debug)]
pub(crate) struct AtomicU64(atomic::AtomicU64);

impl AtomicU64 {
    pub(crate) fn new(value: u64) -> Self {
        Self(atomic::AtomicU64::new(value))
    }

    pub(crate) fn load(&self, _: Ordering) -> u64 {
        self.0.load(Relaxed)
    }

    pub(crate) fn store(&self, value: u64, _: Ordering) {
        self.0.store(value, Relaxed);
    }

    pub(crate) fn fetch_add(&self, value: u64, _: Ordering) {
        self.0.fetch_add(value, Relaxed);
    }
}

#[derive(Debug)]
pub(crate) struct AtomicBool(atomic::AtomicBool);

impl AtomicBool {
    pub(crate) fn new(value: bool) -> Self {
        Self(atomic::AtomicBool::new(value))
    }

    pub(crate) fn load(&self, _: Ordering) -> bool {
        self.0.load(Relaxed)
    }

    pub(crate) fn store(&self, value: bool, _: Ordering) {
        self.0.store(value, Relaxed);
    }
}

/// The items lie behind a lock that loom does not see; only the count goes through its memory model.
#[derive(Debug)]
struct Queue<T> {
    items: Mutex<VecDeque<T>>,
    count: atomic::AtomicUsize,
}

#[derive(Debug)]
pub(crate) struct Sender<T>(Arc<Queue<T>>);

pub(crate) struct Receiver<T>(Arc<Queue<T>>);

#[derive(Debug)]
pub(crate) struct Empty;

pub(crate) fn channel<T>() -> (Sender<T>, Receiver<T>) {
    let queue = Arc::new(Queue { items: Mutex::new(VecDeque::new()), count: atomic::AtomicUsize::new(0) });
    (Sender(queue.clone()), Receiver(queue))
}

impl<T> Clone for Sender<T> {
    fn clone(&self) -> Self {
        Self(self.0.clone())
    }
}

impl<T> Sender<T> {
    pub(crate) fn send(&self, item: T) -> Result<(), Infallible> {
        self.0.items.lock().unwrap().push_back(item);
        self.0.count.fetch_add(1, Relaxed);
        Ok(())
    }
}

impl<T> Receiver<T> {
    pub(crate) fn try_recv(&self) -> Result<T, Empty> {
        if self.0.count.load(Relaxed) == 0 {
            return Err(Empty);
        }
        let item = self.0.items.lock().unwrap().pop_front().ok_or(Empty)?;
        self.0.count.fetch_sub(1, Relaxed);
        Ok(item)
    }

    pub(crate) fn recv(&self) -> T {
        loop {
            match self.try_recv() {
                Ok(item) => return item,
                Err(Empty) => loom::thread::yield_now(),
            }
        }
    }
}
