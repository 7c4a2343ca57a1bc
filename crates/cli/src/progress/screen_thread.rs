//! Draws the view of a run: where something happens, and twice a second so that its clock runs.

use super::state::State;
use super::view;
use crate::screen;
use crate::view::{Inline, Tone, painted};
use std::io::Write;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// How often the view is drawn while nothing happens.
const REDRAW: Duration = Duration::from_millis(500);

/// The thread with what it shares. It ends with this, and takes the view away.
pub(super) struct ScreenThread {
    shared: Arc<Mutex<Shared>>,
    /// Dropped to end the thread.
    stop: Mutex<Option<(Sender<()>, JoinHandle<()>)>>,
}

struct Shared {
    state: State,
    inline: Inline,
    colors: bool,
    begun: Instant,
    /// Nothing is drawn any more.
    is_over: bool,
}

impl ScreenThread {
    pub(super) fn start() -> Self {
        let shared = Shared {
            state: State::default(),
            inline: Inline::default(),
            colors: screen::colors_wanted(),
            begun: Instant::now(),
            is_over: false,
        };
        let shared = Arc::new(Mutex::new(shared));
        let (sender, receiver) = channel();
        let drawn = Arc::clone(&shared);
        // Without the thread the view is drawn where something happens.
        let thread =
            std::thread::Builder::new().name("screen".to_owned()).spawn(move || draw(&drawn, &receiver));
        Self { shared, stop: Mutex::new(thread.ok().map(|thread| (sender, thread))) }
    }

    /// Changes what is shown; `change` is given the time since the beginning.
    pub(super) fn change(&self, change: impl FnOnce(&mut State, u64)) {
        let mut shared = lock(&self.shared);
        let now_ns = shared.now_ns();
        change(&mut shared.state, now_ns);
        shared.draw();
    }

    pub(super) fn known<T>(&self, ask: impl FnOnce(&State) -> T) -> T {
        ask(&lock(&self.shared).state)
    }

    /// A line above the view that stays.
    pub(super) fn say(&self, tone: Tone, text: &str) {
        let mut shared = lock(&self.shared);
        let text = report::wrapped(text, usize::from(screen::size().0));
        let text = if shared.colors { painted(tone, &text) } else { text };
        let bytes = shared.inline.clear() + &text + "\n";
        let _ = std::io::stderr().write_all(bytes.as_bytes());
        shared.draw();
    }

    /// Takes the view away, so that the result stands in its place.
    pub(super) fn finish(&self) {
        let stopped = self.stop.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some((sender, thread)) = stopped {
            drop(sender);
            let _ = thread.join();
        }
        let mut shared = lock(&self.shared);
        shared.is_over = true;
        let gone = shared.inline.clear();
        let _ = std::io::stderr().write_all(gone.as_bytes());
    }
}

impl Drop for ScreenThread {
    fn drop(&mut self) {
        self.finish();
    }
}

impl Shared {
    fn now_ns(&self) -> u64 {
        u64::try_from(self.begun.elapsed().as_nanos()).unwrap_or(u64::MAX)
    }

    fn draw(&mut self) {
        if self.is_over {
            return;
        }
        let (width, height) = screen::size();
        let buffer = view::render(&self.state, self.now_ns(), width, height);
        let frame = self.inline.frame(&buffer, self.colors, width);
        let _ = std::io::stderr().write_all(frame.as_bytes());
    }
}

/// A panic of the other side leaves a state that can be shown.
fn lock(shared: &Mutex<Shared>) -> MutexGuard<'_, Shared> {
    shared.lock().unwrap_or_else(PoisonError::into_inner)
}

fn draw(shared: &Mutex<Shared>, stopped: &Receiver<()>) {
    while stopped.recv_timeout(REDRAW) == Err(RecvTimeoutError::Timeout) {
        lock(shared).draw();
    }
}
