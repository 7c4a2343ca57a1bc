//! The loop of one worker: set up, then arrivals, sockets, deadlines and interval ends until the load is over.

use crate::book::Closing;
use crate::control::Control;
use crate::core::Core;
use crate::driver::{Driver, Wait};
use crate::failure::Failure;
use crate::layer::Layer;
use crate::opening::Opening;
use crate::protocol::Protocol;
use crate::standing::{LOOK, Sharing, Waited};
use pace::SpinMargin;
use std::io;
use units::{Clock, MonotonicClock, Nanos};

/// How often a worker looks whether it is to stop.
const STOP_LOOK: Nanos = Nanos::from_millis(100);
/// With streams: how long a load that is over hears its peers out at most, and after which silence it does not.
const FAREWELL_MAX: Nanos = Nanos::from_millis(20);
const FAREWELL_QUIET: Nanos = Nanos::from_millis(2);
/// How often a worker that is set up looks whether the trial begins.
const START_POLL: Nanos = Nanos::from_micros(200);

/// After an interval was handed over, a worker that shares its CPU with the controller leaves it the gaps between two
/// requests for this long, so that the controller's work does not fall on a request.
const HANDED_OVER: Nanos = Nanos::from_millis(10);

/// How often a worker looks for resolved names while it waits for some.
const NAMES_POLL: Nanos = Nanos::from_micros(100);

/// A moment that does not come.
const NEVER: Nanos = Nanos(u64::MAX);

/// What a worker found when it opened its connections.
#[derive(Debug)]
pub(crate) struct Ready {
    pub(crate) asked: u64,
    pub(crate) established: u64,
    pub(crate) failures: Vec<Failure>,
}

/// One worker: a core with what its connections speak, the driver it runs on, and what lies between them.
pub(crate) struct Worker<'a, D: Driver, L: Layer, P: Protocol> {
    pub(crate) core: Core<P>,
    pub(crate) driver: D,
    pub(crate) layer: L,
    pub(crate) control: &'a Control,
    pub(crate) clock: MonotonicClock,
    pub(crate) spin: Spin,
    /// The begin of the load on `clock`; zero before it. The core's clock begins there.
    pub(crate) origin: Nanos,
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
    /// Says whether others want the CPU too; a worker that was given a way to wait waits so.
    const fn share(&mut self, is_shared: bool) {
        if let Self::Margin(margin) = self {
            margin.share(is_shared);
        }
    }
}

impl<D: Driver, L: Layer, P: Protocol> Worker<'_, D, L, P> {
    /// Opens the connections; ends when each attempt has ended or timed out.
    pub(crate) fn set_up(&mut self) -> io::Result<Ready> {
        let begun = self.core.now();
        let between_looks = self.opening.between_looks();
        let (mut progress, mut next_look) = (self.opening.begin(begun), begun + between_looks);
        let mut told = 0;
        while !self.control.is_stopped() {
            let now = self.core.now();
            while let Some(nth) = progress.next(self.core.connecting(), now) {
                self.core.open_ahead(&mut self.layer.over(self.driver.sockets()), nth);
            }
            if progress.is_over(self.core.connecting()) {
                break;
            }
            let mut look = next_look.min(self.next_deadline());
            if self.core.awaits_names() {
                look = look.min(now + NAMES_POLL);
            }
            let wait = progress.wait(self.core.connecting(), look, now);
            self.layer.poll(&mut self.driver, Wait::AtMost(wait), &mut self.core)?;
            self.core.take_names(&mut self.layer.over(self.driver.sockets()));
            let now = self.core.now();
            self.on_time(now);
            if now >= next_look {
                next_look = now + between_looks;
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
        self.origin = origin;
        let mut next_stop_look = STOP_LOOK;
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
            let deadline = self.on_time(now);
            if now >= next_stop_look {
                next_stop_look = now + STOP_LOOK;
                self.core.refresh();
                if self.control.is_stopped() {
                    self.core.book.cut(now);
                }
            }
            if self.is_over(now) {
                break;
            }
            self.wait(now, next_stop_look.min(deadline))?;
        }
        let now = self.core.now();
        if P::HAS_STREAMS && !self.core.has_dispatched() {
            self.take_leave(now)?;
        }
        self.core.censor_rest();
        Ok(self.core.book.finish(now))
    }

    /// Hears peers out whose connections carry nothing any more, and says goodbye to them: what they sent behind the last
    /// answer, such as a PING, would else meet a closed socket, whose reset looks like a failure to them.
    fn take_leave(&mut self, now: Nanos) -> io::Result<()> {
        self.core.stop();
        let until = now + FAREWELL_MAX;
        loop {
            let left = until.since(self.core.now()).min(FAREWELL_QUIET);
            if left == Nanos::ZERO
                || self.layer.poll(&mut self.driver, Wait::AtMost(left), &mut self.core)? == 0
            {
                break;
            }
        }
        self.core.leave_all(&mut self.layer.over(self.driver.sockets()));
        Ok(())
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

    /// The next moment at which somebody has something to do that no event announces, on the core's clock.
    fn next_deadline(&self) -> Nanos {
        let of_core = self.core.next_deadline().unwrap_or(NEVER);
        let below = self.layer.next_deadline(&self.driver);
        below.map_or(of_core, |below| of_core.min(below.since(self.origin)))
    }

    /// Lets those act whose time has come. Returns when the next one's comes.
    fn on_time(&mut self, now: Nanos) -> Nanos {
        let deadline = self.next_deadline();
        if now < deadline {
            return deadline;
        }
        self.core.on_time(&mut self.layer.over(self.driver.sockets()), now);
        self.layer.on_time(&mut self.driver, now + self.origin, &mut self.core);
        self.next_deadline()
    }

    /// Lets the sockets have their say until something else is due.
    fn wait(&mut self, now: Nanos, next_look: Nanos) -> io::Result<()> {
        let book = &self.core.book;
        let until = if self.core.is_draining() { book.drain_end() } else { book.end() };
        let mut due = next_look.min(book.boundary()).min(until);
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
