//! The loop of one worker: set up, then arrivals, sockets, sweeps and interval ends until the load is over.

use crate::book::Closing;
use crate::control::Control;
use crate::core::Core;
use crate::driver::{Driver, Wait};
use crate::failure::Failure;
use crate::layer::Layer;
use crate::opening::Opening;
use crate::standing::{LOOK, Sharing, Waited};
use pace::SpinMargin;
use std::io;
use units::{Clock, MonotonicClock, Nanos};

/// Bounds of the time between two sweeps for time-outs.
const SWEEP: (Nanos, Nanos) = (Nanos::MILLI, Nanos::from_millis(100));
/// How often a worker that is set up looks whether the trial begins.
const START_POLL: Nanos = Nanos::from_micros(200);

/// After an interval was handed over, a worker that shares its CPU with the controller leaves it the gaps between two
/// requests for this long, so that the controller's work does not fall on a request.
const HANDED_OVER: Nanos = Nanos::from_millis(10);

/// How often a worker looks for resolved names while it waits for some.
const NAMES_POLL: Nanos = Nanos::from_micros(100);

/// What a worker found when it opened its connections.
#[derive(Debug)]
pub(crate) struct Ready {
    pub(crate) asked: u64,
    pub(crate) established: u64,
    pub(crate) failures: Vec<Failure>,
}

/// One worker: a core, the driver it runs on, and what lies between them.
pub(crate) struct Worker<'a, D: Driver, L: Layer> {
    pub(crate) core: Core,
    pub(crate) driver: D,
    pub(crate) layer: L,
    pub(crate) control: &'a Control,
    pub(crate) clock: MonotonicClock,
    pub(crate) spin: Spin,
    /// Shortest time-out, which sets how often to sweep.
    pub(crate) shortest_timeout: Nanos,
    pub(crate) opening: Opening,
    /// Whether the controller has no other CPU than the workers'.
    pub(crate) shares_cpu: bool,
}

/// How a worker waits for an intended time.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Spin {
    /// Sleeps.
    Off,
    /// Sleeps to a margin before it and spins the rest.
    Margin(SpinMargin),
    /// Never sleeps while load runs.
    Full,
}

impl Spin {
    /// Says whether others want the CPU too; a worker that was told how to wait waits so.
    const fn share(&mut self, is_shared: bool) {
        if let Self::Margin(margin) = self {
            margin.share(is_shared);
        }
    }
}

impl<D: Driver, L: Layer> Worker<'_, D, L> {
    /// Opens the connections; ends when each attempt has ended or timed out.
    pub(crate) fn set_up(&mut self) -> io::Result<Ready> {
        let begun = self.core.now();
        let between_sweeps = self.opening.between_sweeps();
        let (mut progress, mut next_sweep) = (self.opening.begin(begun), begun + between_sweeps);
        let mut told = 0;
        while !self.control.is_stopped() {
            let now = self.core.now();
            while let Some(nth) = progress.next(self.core.connecting(), now) {
                self.core.open_ahead(&mut self.layer.over(self.driver.sockets()), nth);
            }
            if progress.is_over(self.core.connecting()) {
                break;
            }
            let look = if self.core.awaits_names() { next_sweep.min(now + NAMES_POLL) } else { next_sweep };
            let wait = progress.wait(self.core.connecting(), look, now);
            self.layer.poll(&mut self.driver, Wait::AtMost(wait), &mut self.core)?;
            self.core.take_names(&mut self.layer.over(self.driver.sockets()));
            let now = self.core.now();
            if now >= next_sweep {
                next_sweep = now + between_sweeps;
                self.core.sweep(&mut self.layer.over(self.driver.sockets()), now);
                let opened = self.core.established().max(told);
                self.control.opened(opened - told);
                told = opened;
            }
            // Attempts that wait for a name say nothing of the listener.
            if !self.core.awaits_names() {
                progress.observe(self.core.connecting(), self.core.has_setup_timeouts(), now);
            }
        }
        Ok(Ready {
            asked: self.opening.connections as u64,
            established: self.core.established(),
            failures: self.core.take_setup_failures(),
        })
    }

    /// Waits for the trial's origin and makes load until the timeline, the budget or a stop ends it.
    pub(crate) fn run(mut self) -> io::Result<Closing> {
        let Some(origin) = self.await_origin()? else {
            self.core.book.cut(Nanos::ZERO);
            return Ok(self.core.book.finish(Nanos::ZERO));
        };
        self.core.start(&mut self.layer.over(self.driver.sockets()), self.clock.with_origin_after(origin));
        let between_sweeps = Nanos((self.shortest_timeout.0 / 16).clamp(SWEEP.0.0, SWEEP.1.0));
        let mut next_sweep = between_sweeps;
        let (mut waited, mut sharing, mut next_look) = (Waited::begin(), Sharing::new(), Nanos::ZERO);
        let mut handed_over = Nanos::ZERO;
        loop {
            let now = self.core.now();
            self.core.dispatch_due(&mut self.layer.over(self.driver.sockets()), now);
            if self.core.awaits_names() {
                self.core.take_names(&mut self.layer.over(self.driver.sockets()));
            }
            if now >= self.core.book.boundary() {
                self.core.book.roll(now);
                (handed_over, next_look) = (now, now);
            }
            if now >= next_look {
                next_look = now + LOOK;
                let found = waited.look();
                self.core.book.put_off(found.waited);
                let is_shared = sharing.learn(found, now);
                self.spin.share(is_shared || (self.shares_cpu && now.since(handed_over) < HANDED_OVER));
            }
            if now >= next_sweep {
                next_sweep = now + between_sweeps;
                self.core.sweep(&mut self.layer.over(self.driver.sockets()), now);
                if self.control.is_stopped() {
                    self.core.book.cut(now);
                }
            }
            if self.is_over(now) {
                break;
            }
            self.wait(now, next_sweep)?;
        }
        self.core.censor_rest();
        let now = self.core.now();
        Ok(self.core.book.finish(now))
    }

    /// Waits until the origin is set and reached; before it the trial's clock would stand at zero.
    fn await_origin(&mut self) -> io::Result<Option<Nanos>> {
        while !self.control.is_stopped() {
            let left = match self.control.origin_ns() {
                None => START_POLL,
                Some(origin_ns) => match Nanos(origin_ns).since(self.clock.now()) {
                    Nanos::ZERO => return Ok(Some(Nanos(origin_ns))),
                    left => left.min(START_POLL),
                },
            };
            self.layer.poll(&mut self.driver, Wait::AtMost(left), &mut self.core)?;
        }
        Ok(None)
    }

    /// Moves to the drain when it is time, and tells whether all is over.
    fn is_over(&mut self, now: Nanos) -> bool {
        if self.core.is_spent() {
            self.core.book.end_with_budget();
            return true;
        }
        if now < self.core.book.end() {
            return false;
        }
        if !self.core.is_draining() {
            self.core.begin_drain(now);
        }
        now >= self.core.book.drain_end() || !self.core.has_dispatched()
    }

    /// Lets the sockets have their say until something else is due.
    fn wait(&mut self, now: Nanos, next_sweep: Nanos) -> io::Result<()> {
        let book = &self.core.book;
        let until = if self.core.is_draining() { book.drain_end() } else { book.end() };
        let mut due = next_sweep.min(book.boundary()).min(until);
        if self.core.awaits_names() {
            due = due.min(now + NAMES_POLL);
        }
        let intended = self.core.next_intended();
        let wake = match (self.spin, intended) {
            (Spin::Full, _) => now,
            (Spin::Margin(margin), Some(intended)) => due.min(margin.sleep_until(now, intended)),
            (_, intended) => due.min(intended.unwrap_or(due)),
        };
        if wake > now {
            let events = self.layer.poll(&mut self.driver, Wait::AtMost(wake - now), &mut self.core)?;
            if let (0, Spin::Margin(margin)) = (events, &mut self.spin) {
                margin.observe(self.core.now().since(wake));
            }
            return Ok(());
        }
        let events = self.layer.poll(&mut self.driver, Wait::No, &mut self.core)?;
        if events == 0 {
            let spun = self.core.now().since(now);
            self.core.book.spun(spun);
        }
        Ok(())
    }
}
