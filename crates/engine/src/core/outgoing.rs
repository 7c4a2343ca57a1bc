//! What a worker sends: which request comes next, its bytes, and how its answer is judged.
//!
//! Invariant: a scenario of one static request costs what it did without scenarios; its bytes are never rendered again.

use super::session::{Session, Steps};
use crate::slot::{Slot, Which};
use pace::{PaceError, Share};
use request::{Bytes, Check, Made, MakeError, Maker, Traffic};
use std::sync::Arc;
use std::time::SystemTime;
use units::Seed;

/// One worker's source of requests.
pub(crate) struct Outgoing {
    traffic: Traffic,
    maker: Maker,
    /// One static request; nothing is then made.
    constant: Option<Made>,
    lasting: Arc<[u8]>,
    /// Requests numbered so far.
    numbered: u64,
    pub(super) steps: Option<Steps>,
}

impl Outgoing {
    /// The source of worker `share`.
    ///
    /// # Errors
    /// A think time that cannot be.
    pub(crate) fn new(traffic: Traffic, seed: Seed, share: Share) -> Result<Self, PaceError> {
        let program = traffic.program();
        Ok(Self {
            maker: program.maker(share.index() as u32, share.workers() as u32),
            constant: program.constant(),
            lasting: program.lasting_bytes(),
            numbered: 0,
            steps: traffic.session().map(|session| Steps::new(session, program, seed, share)).transpose()?,
            traffic,
        })
    }

    /// The bytes that are sent over and over.
    pub(super) fn lasting_bytes(&self) -> Arc<[u8]> {
        self.lasting.clone()
    }

    /// Whether every request has the same bytes.
    #[inline]
    pub(super) const fn is_constant(&self) -> bool {
        self.constant.is_some()
    }

    /// The next request of a mix, or the first of a session.
    #[inline]
    pub(super) fn next(&mut self) -> Which {
        let n = self.numbered;
        self.numbered += 1;
        let entry = match (&self.constant, &self.steps) {
            (Some(_), _) => 0,
            (None, Some(steps)) => steps.entry(0),
            (None, None) => self.maker.entry(n),
        };
        Which { n, entry }
    }

    /// A later step of a session.
    pub(super) fn next_step(&mut self, step: usize) -> Which {
        let n = self.numbered;
        self.numbered += 1;
        Which { n, entry: self.steps.as_ref().map_or(0, |steps| steps.entry(step)) }
    }

    /// Bytes and token of a request, into the slot's memory where they are rendered.
    #[inline]
    pub(super) fn make(&mut self, which: Which, slot: &mut Slot) -> Result<Made, MakeError> {
        if let Some(made) = self.constant {
            return Ok(made);
        }
        let Slot { rendered, user, .. } = slot;
        let user = user.as_deref_mut().map(Session::as_user);
        self.maker.make(which.n, user.as_ref(), rendered)
    }

    /// The bytes of a request that stand in `rendered` if they were rendered.
    #[inline]
    pub(super) fn bytes<'a>(&'a self, bytes: Bytes, rendered: &'a [u8]) -> &'a [u8] {
        match bytes {
            Bytes::Lasting { from, to } => &self.lasting[from as usize..to as usize],
            Bytes::Rendered => rendered,
        }
    }

    /// Whether answers have no body whatever their header section says.
    #[inline]
    pub(super) fn is_head(&self, which: Which) -> bool {
        self.traffic.program().is_head(which.entry)
    }

    /// The judgement of answers.
    #[inline]
    pub(super) fn check(&self, entry: u16) -> &Check {
        &self.traffic.checks()[usize::from(entry)]
    }

    /// What an error of making a request means, for people.
    pub(super) fn explain(&self, error: &MakeError) -> String {
        self.traffic.program().explain(error)
    }

    /// Name of a request.
    pub(super) fn name(&self, entry: u16) -> &str {
        self.traffic.program().names().get(usize::from(entry)).map_or("", String::as_str)
    }

    /// From written to done, where the request has a time-out of its own.
    #[inline]
    pub(super) fn timeout_ns(&self, entry: u16) -> Option<u64> {
        self.traffic.program().timeout_ns(entry)
    }

    /// Takes what was made ahead meanwhile; called now and then, off the hot path.
    pub(super) fn refresh(&mut self) {
        if !self.is_constant() {
            self.maker.refresh(SystemTime::now());
        }
    }
}
