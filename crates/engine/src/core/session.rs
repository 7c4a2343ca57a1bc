//! Sessions of virtual users: the requests of one user in order, with pauses, captured values and cookies.
//!
//! Absent on purpose: when a session begins, goes on and ends (`users`).

use pace::{Lengths, PaceError, Share, Think};
use request::{Captured, CookieJar, Notes, Program, SessionSettings, User};
use schema::scenario::OnFailure;
use schema::scenario::UserConnection;
use std::cmp::Ordering;
use std::collections::BinaryHeap;
use units::{Nanos, Seed};

/// The steps of a scenario's session, for one worker.
pub(crate) struct Steps {
    /// Places in the scenario, in order.
    entries: Vec<u16>,
    /// Pause before each step; the first has none.
    thinks: Vec<Option<Think>>,
    /// How many steps each session has; all of them where absent.
    lengths: Option<Lengths>,
    /// Whether each step is any of the entries, as a mix chooses.
    is_drawn: bool,
    captures: usize,
    on_failure: OnFailure,
    is_pooled: bool,
    share: Share,
    /// Sessions begun so far.
    begun: u64,
    /// Memory of sessions that have ended; boxed, as the places hold them.
    #[expect(clippy::vec_box, reason = "a place holds a box, so that one without a session stays small")]
    spare: Vec<Box<Session>>,
}

/// A virtual user's session.
#[derive(Debug, Default)]
pub(crate) struct Session {
    number: u64,
    pub(super) step: usize,
    /// Steps that it has.
    length: usize,
    pub(super) intended: Nanos,
    pub(super) is_failed: bool,
    captured: Captured,
    jar: CookieJar,
    cookies: String,
}

/// Users between two steps that hold no connection.
#[derive(Debug, Default)]
pub(super) struct Pool {
    due: BinaryHeap<Due>,
}

/// A user whose next step is intended at a time.
#[derive(Debug)]
struct Due {
    at: Nanos,
    session: Box<Session>,
}

impl Ord for Due {
    /// The earliest is the greatest, as a heap wants it; equal times in the order of their sessions.
    fn cmp(&self, other: &Self) -> Ordering {
        (other.at, other.session.number).cmp(&(self.at, self.session.number))
    }
}

impl PartialOrd for Due {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Due {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Due {}

impl Pool {
    /// When the next user's step is intended.
    pub(super) fn next(&self) -> Option<Nanos> {
        self.due.peek().map(|due| due.at)
    }

    pub(super) fn is_empty(&self) -> bool {
        self.due.is_empty()
    }

    /// The user whose step is next.
    pub(super) fn pop(&mut self) -> Option<Box<Session>> {
        self.due.pop().map(|due| due.session)
    }

    pub(super) fn push(&mut self, at: Nanos, session: Box<Session>) {
        self.due.push(Due { at, session });
    }
}

impl Steps {
    pub(super) fn new(
        settings: &SessionSettings,
        program: &Program,
        seed: Seed,
        share: Share,
    ) -> Result<Self, PaceError> {
        // A drawn session has one law of pauses and no end of steps: the first has none, and the second stands for all.
        let count = if settings.is_drawn { 2 } else { settings.thinks.len() };
        let plans = settings.thinks.iter().cycle().take(count);
        let thinks = plans.enumerate().map(|(step, think)| match think {
            Some(plan) if step > 0 => Think::new(plan, seed.derive("step", step as u64), share).map(Some),
            _ => Ok(None),
        });
        Ok(Self {
            entries: program.steps().unwrap_or_default().to_vec(),
            thinks: thinks.collect::<Result<_, _>>()?,
            lengths: settings.length.as_ref().map(|plan| Lengths::new(plan, seed)).transpose()?,
            is_drawn: settings.is_drawn,
            captures: program.captures().len(),
            on_failure: settings.on_failure,
            is_pooled: settings.connection == UserConnection::Pool,
            share,
            begun: 0,
            spare: Vec::new(),
        })
    }

    /// The entry of a step; `None` where each is drawn.
    pub(super) fn entry(&self, step: usize) -> Option<u16> {
        (!self.is_drawn).then(|| self.entries.get(step).copied().unwrap_or_default())
    }

    /// Whether later steps wait for times of their own.
    pub(super) fn think(&self) -> bool {
        self.is_pooled || self.thinks.iter().any(Option::is_some)
    }

    /// Whether users hold no connection between two steps.
    pub(super) const fn is_pooled(&self) -> bool {
        self.is_pooled
    }

    /// The pause before a step.
    pub(super) fn pause(&mut self, step: usize) -> Nanos {
        let place = if self.is_drawn { step.min(1) } else { step };
        self.thinks.get_mut(place).and_then(Option::as_mut).map_or(Nanos::ZERO, Think::next)
    }

    /// A session whose first request is intended then.
    pub(super) fn begin(&mut self, intended: Nanos) -> Box<Session> {
        let new = || Box::new(Session { captured: Captured::new(self.captures), ..Session::default() });
        let mut session = self.spare.pop().unwrap_or_else(new);
        session.number = self.begun * self.share.workers() + self.share.index();
        self.begun += 1;
        session.step = 0;
        let listed = if self.is_drawn { usize::MAX } else { self.entries.len() };
        let drawn = self.lengths.map(|lengths| lengths.of(session.number) as usize);
        session.length = drawn.map_or(listed, |drawn| drawn.min(listed));
        session.intended = intended;
        session.is_failed = false;
        session.captured.clear();
        session.jar.clear();
        session
    }

    /// Takes back the memory of a session that has ended.
    pub(super) fn give_back(&mut self, session: Box<Session>) {
        self.spare.push(session);
    }

    /// Whether a session has no further step.
    pub(super) fn is_over(&self, session: &Session) -> bool {
        session.step >= session.length || (session.is_failed && self.on_failure == OnFailure::End)
    }
}

impl Session {
    /// Whether the session stands at its first step.
    pub(crate) const fn is_first(&self) -> bool {
        self.step == 0
    }

    /// What the next request must know of its user.
    pub(super) fn as_user(&mut self) -> User<'_> {
        self.cookies.clear();
        self.jar.render(&mut self.cookies);
        User {
            session: self.number,
            step: self.step as u32,
            captured: &self.captured,
            cookies: &self.cookies,
        }
    }

    /// Takes captured values and cookies from the notes of an answer. A value that is too long is as good as missing;
    /// the request that needs it says so.
    pub(super) fn learn(&mut self, notes: &Notes) {
        for (index, value) in notes.captured() {
            self.captured.set(index, value);
        }
        self.learn_cookies(notes);
    }

    /// Takes cookies from the notes of an answer.
    pub(super) fn learn_cookies(&mut self, notes: &Notes) {
        for (name, value) in notes.cookies() {
            self.jar.set(name, value);
        }
    }
}
