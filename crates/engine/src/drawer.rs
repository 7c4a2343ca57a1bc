//! The thread that draws arrivals ahead of the workers of this process, where all of them take theirs from one drawing.
//!
//! It runs where the process's other helping threads do, at the common priority, and gives way between two batches, each
//! some 50 µs of work; it sleeps while enough is drawn. A load never depends on it: a worker that finds no batch draws it.
//! It ends as it is dropped.

use crate::error::EngineError;
use pace::Drawing;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{JoinHandle, park, yield_now};

#[derive(Debug)]
pub(crate) struct Drawer {
    is_over: Arc<AtomicBool>,
    /// Taken as it is dropped.
    thread: Option<JoinHandle<()>>,
}

impl Drawer {
    /// # Errors
    /// The thread cannot be started.
    pub(crate) fn start(mut drawing: Drawing) -> Result<Self, EngineError> {
        let is_over = Arc::new(AtomicBool::new(false));
        let over = is_over.clone();
        let draw = move || {
            drawing.serve();
            while !over.load(Ordering::Relaxed) {
                if drawing.draw_ahead() { yield_now() } else { park() }
            }
        };
        let thread = std::thread::Builder::new()
            .name("prony-drawer".to_owned())
            .spawn(draw)
            .map_err(|source| EngineError::System { what: "start the thread that draws arrivals", source })?;
        Ok(Self { is_over, thread: Some(thread) })
    }
}

impl Drop for Drawer {
    fn drop(&mut self) {
        self.is_over.store(true, Ordering::Relaxed);
        if let Some(thread) = self.thread.take() {
            thread.thread().unpark();
            let _ = thread.join();
        }
    }
}
