//! Loom's atomics, and a channel of its mutex and condition variable: a queue without bound, as in the standard
//! library. Loom's own channel does not branch at `try_recv`.

pub(crate) use loom::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use loom::sync::{Arc, Condvar, Mutex};
use std::collections::VecDeque;
use std::convert::Infallible;

#[derive(Debug)]
struct Queue<T> {
    items: Mutex<VecDeque<T>>,
    arrived: Condvar,
}

#[derive(Debug)]
pub(crate) struct Sender<T>(Arc<Queue<T>>);

pub(crate) struct Receiver<T>(Arc<Queue<T>>);

#[derive(Debug)]
pub(crate) struct Empty;

pub(crate) fn channel<T>() -> (Sender<T>, Receiver<T>) {
    let queue = Arc::new(Queue { items: Mutex::new(VecDeque::new()), arrived: Condvar::new() });
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
        self.0.arrived.notify_one();
        Ok(())
    }
}

impl<T> Receiver<T> {
    pub(crate) fn try_recv(&self) -> Result<T, Empty> {
        self.0.items.lock().unwrap().pop_front().ok_or(Empty)
    }

    pub(crate) fn recv(&self) -> T {
        let mut items = self.0.items.lock().unwrap();
        loop {
            match items.pop_front() {
                Some(item) => return item,
                None => items = self.0.arrived.wait(items).unwrap(),
            }
        }
    }
}
