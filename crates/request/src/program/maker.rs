//! One worker's part: makes the bytes of its requests. On the hot path: no lock, and no allocation once warm.

use super::chooser::Chooser;
use super::entry::Filling;
use super::framed::Framed;
use super::made::{Bytes, Made};
use super::{Captured, MakeCause, MakeError, Program};
use crate::feeder::Cursor;
use crate::template::eval::{Frame, Outside, pick};
use crate::template::value::Value;
use crate::token::{TokenUse, View};
use std::sync::Arc;
use std::time::SystemTime;
use units::Rng;
use wire::{Framing, Planned as _};

/// One worker's scratch memory and positions.
#[derive(Debug)]
pub struct Maker<F: Framing> {
    framed: Arc<Framed<F>>,
    worker: u64,
    workers: u64,
    only: Option<u16>,
    vars: Vec<Value>,
    scratch: Vec<u8>,
    body: Vec<u8>,
    cursors: Vec<Cursor>,
    tokens: Vec<View>,
    /// The name of the request that a row chose.
    chosen: Vec<u8>,
}

/// The virtual user for whom a request of a session is made.
#[derive(Clone, Copy, Debug)]
pub struct User<'a> {
    /// Number of the session over all workers.
    pub session: u64,
    /// Place in the session's steps.
    pub step: u32,
    /// Values taken from earlier answers.
    pub captured: &'a Captured,
    /// Value of a Cookie field, may be empty.
    pub cookies: &'a str,
}

impl<F: Framing> Maker<F> {
    /// The part of worker `worker` of `workers`, counted from 0.
    ///
    /// # Panics
    /// If there is no such worker: a programmer's error.
    #[must_use]
    pub fn new(framed: Arc<Framed<F>>, worker: u32, workers: u32) -> Self {
        assert!(worker < workers, "worker {worker} of {workers} does not exist");
        let program = framed.program();
        Self {
            only: program.only_entry(),
            vars: vec![Value::Int(0); program.vars.len()],
            scratch: Vec::new(),
            body: Vec::new(),
            cursors: program.feeders.iter().map(|_| Cursor::default()).collect(),
            tokens: program.tokens.views(),
            chosen: Vec::new(),
            worker: worker.into(),
            workers: workers.into(),
            framed,
        }
    }

    /// Which entry request `n` of this worker is, of a mix. The first one stands for a row that names none, of which
    /// [`Maker::make`] says why.
    #[inline]
    #[must_use]
    pub fn entry(&mut self, n: u64) -> u16 {
        let global = self.global(n);
        let program = self.framed.program();
        match &program.chooser {
            None => self.only.unwrap_or_else(|| program.choose(None, global).0),
            Some(chooser) => {
                chosen(chooser, program, &mut self.cursors, global, &mut self.chosen).unwrap_or(0)
            }
        }
    }

    /// Makes request `n` of this worker, counted from 0; `user` is needed for sessions and ignored for a mix. Over
    /// all it is request `n * workers + worker`, so that the workers' requests together are 0, 1, 2, … `out` is
    /// cleared and filled for [`Bytes::Rendered`] alone.
    ///
    /// # Errors
    /// Where an expression has no value, a row is missing, or the framing would break: see [`MakeError`]. `out` holds
    /// no request then.
    pub fn make(&mut self, n: u64, user: Option<&User<'_>>, out: &mut Vec<u8>) -> Result<Made, MakeError> {
        let program = self.framed.program();
        let global = self.global(n);
        // Nothing is drawn for a request that is the only one and fixed but for its trace.
        if let (Some(entry), None, None) = (self.only, &program.steps, &program.chooser)
            && let Some(made) = self.stamp(entry, global, out)
        {
            return Ok(made);
        }
        let (entry, rng) = match &program.steps {
            Some(steps) => program.step(steps, self.only, global, user)?,
            None => match &program.chooser {
                None => program.choose(self.only, global),
                Some(chooser) => {
                    let entry = chosen(chooser, program, &mut self.cursors, global, &mut self.chosen)
                        .map_err(|cause| MakeError { entry: 0, cause })?;
                    (entry, program.rng(global))
                }
            },
        };
        self.render(entry, rng, n, user, out)
    }

    /// Makes request `n` of this worker once more, as message `message` of its stream, counted from 1: the same entry, row and
    /// numbers, with random values of its own.
    ///
    /// # Errors
    /// As [`Maker::make`].
    pub fn make_message(
        &mut self,
        n: u64,
        entry: u16,
        message: u64,
        user: Option<&User<'_>>,
        out: &mut Vec<u8>,
    ) -> Result<Made, MakeError> {
        let program = self.framed.program();
        let seed = match (&program.steps, user) {
            (Some(_), Some(user)) => {
                program.seed.derive("session", user.session).derive("step", user.step.into())
            }
            _ => program.seed.derive("request", self.global(n)),
        };
        self.render(entry, seed.derive("message", message).rng(), n, user, out)
    }

    /// A request that is fixed but for its trace.
    #[inline]
    fn stamp(&self, entry: u16, global: u64, out: &mut Vec<u8>) -> Option<Made> {
        let stamped = self.framed.entry(entry).stamped.as_ref()?;
        stamped.render(global, out);
        Some(Made { entry, bytes: Bytes::Rendered, token: None })
    }

    /// The number of request `n` over all workers.
    #[inline]
    const fn global(&self, n: u64) -> u64 {
        n.wrapping_mul(self.workers).wrapping_add(self.worker)
    }

    #[inline]
    fn render(
        &mut self,
        entry: u16,
        rng: Rng,
        n: u64,
        user: Option<&User<'_>>,
        out: &mut Vec<u8>,
    ) -> Result<Made, MakeError> {
        let program = self.framed.program();
        let global = self.global(n);
        let parts = &program.entries[usize::from(entry)];
        let cookies = user.map_or("", |user| user.cookies);
        let framed = self.framed.entry(entry);
        if let Some(made) = self.stamp(entry, global, out) {
            return Ok(made);
        }
        let plan = match (&framed.plan, framed.lasting) {
            (Some(plan), None) => plan,
            (Some(plan), Some(_)) if !cookies.is_empty() => plan,
            (_, Some((from, to))) => {
                return Ok(Made { entry, bytes: Bytes::Lasting { from, to }, token: None });
            }
            (None, None) => return Err(MakeError { entry, cause: MakeCause::OutOfReach }),
        };
        self.scratch.clear();
        out.clear();
        self.cursors.iter_mut().for_each(Cursor::begin);
        let session = user.map_or(0, |user| user.session);
        let position = if program.steps.is_some() { session } else { global };
        let supplies = Supplies { program, cursors: &mut self.cursors, tokens: &self.tokens, position };
        let mut frame = Frame {
            rng,
            n,
            global,
            worker: self.worker,
            session,
            captured: user.map(|user| user.captured),
            vars: &mut self.vars,
            scratch: &mut self.scratch,
            outside: supplies,
            clock: program.clock,
            now: None,
            token: None,
        };
        let mut render = || {
            for index in &parts.vars {
                let index = usize::from(*index);
                frame.vars[index] = frame.eval(&program.vars[index].node)?;
            }
            plan.render(&mut Filling::new(&mut frame, cookies), out, &mut self.body)?;
            Ok(frame.token)
        };
        let token = render().map_err(|cause| MakeError { entry, cause })?;
        Ok(Made { entry, bytes: Bytes::Rendered, token })
    }

    /// To be called about every 100 ms beside the hot path: takes newer tokens if there are any.
    pub fn refresh(&mut self, now: SystemTime) {
        let now = now.duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
        self.tokens.iter_mut().for_each(|view| view.refresh(now));
    }
}

/// The entry that the row of request `global` names. `name` is scratch memory.
fn chosen(
    chooser: &Chooser,
    program: &Program,
    cursors: &mut [Cursor],
    global: u64,
    name: &mut Vec<u8>,
) -> Result<u16, MakeCause> {
    let place = usize::from(chooser.feeder);
    let (Some(rows), Some(cursor)) = (program.feeders.get(place), cursors.get_mut(place)) else {
        return Err(MakeCause::OutOfReach);
    };
    name.clear();
    cursor.begin();
    cursor.column(rows, chooser.feeder, global, chooser.column, name)?;
    chooser.entry(name)
}

/// Rows and tokens for one request.
struct Supplies<'a> {
    program: &'a Program,
    cursors: &'a mut [Cursor],
    tokens: &'a [View],
    /// What rows and tokens go by: the number of the session, so that all its requests see the same row, else that of the request.
    position: u64,
}

impl Outside for Supplies<'_> {
    fn column(&mut self, feeder: u16, column: u16, out: &mut Vec<u8>) -> Result<(), MakeCause> {
        let place = usize::from(feeder);
        match (self.program.feeders.get(place), self.cursors.get_mut(place)) {
            (Some(rows), Some(cursor)) => cursor.column(rows, feeder, self.position, column, out),
            _ => Err(MakeCause::OutOfReach),
        }
    }

    fn token(&mut self, maker: u8, out: &mut Vec<u8>) -> Result<TokenUse, MakeCause> {
        let view = self.tokens.get(usize::from(maker)).ok_or(MakeCause::OutOfReach)?;
        let (text, kind) = view.hand_out(self.position).ok_or(MakeCause::OutOfReach)?;
        out.extend_from_slice(text.as_bytes());
        Ok(TokenUse { maker, kind })
    }
}

impl Program {
    /// The entry of request `global` of a mix, and the generator for the rest of it.
    #[inline]
    fn choose(&self, only: Option<u16>, global: u64) -> (u16, Rng) {
        let mut rng = self.rng(global);
        let entry = match only {
            Some(entry) => entry,
            None => pick(&self.mix, &mut rng) as u16,
        };
        (entry, rng)
    }

    /// Whether each step of a session is any of the requests.
    #[inline]
    fn is_drawn(&self) -> bool {
        self.steps.is_some() && !self.mix.is_empty()
    }

    /// The generator of request `global`.
    #[inline]
    fn rng(&self, global: u64) -> Rng {
        self.seed.derive("request", global).rng()
    }

    /// The entry of a session's step, and the generator for the rest of it. A drawn step is chosen as a mix chooses.
    fn step(
        &self,
        steps: &[u16],
        only: Option<u16>,
        global: u64,
        user: Option<&User<'_>>,
    ) -> Result<(u16, Rng), MakeError> {
        let entry = |user: &User<'_>| match self.is_drawn() {
            true => Some(self.choose(only, global).0),
            false => steps.get(user.step as usize).copied(),
        };
        let Some((user, entry)) = user.and_then(|user| Some((user, entry(user)?))) else {
            return Err(MakeError { entry: 0, cause: MakeCause::NoUser });
        };
        let seed = self.seed.derive("session", user.session).derive("step", user.step.into());
        Ok((entry, seed.rng()))
    }
}
