//! A program whose messages a protocol has framed: fixed ones are prepared, the others planned, once for all workers.

use super::made::{Bytes, Made};
use super::{MakeCause, Program, ProgramError};
use crate::template::node::Node;
use std::sync::Arc;
use units::Tracing;
use wire::{Fill, Framing, Planned as _, Spot};

/// A program as one protocol sends it; shared by all workers.
#[derive(Debug)]
pub struct Framed<F: Framing> {
    program: Arc<Program>,
    entries: Vec<Entry<F>>,
    lasting: Arc<[u8]>,
}

/// One request.
#[derive(Debug)]
pub(super) struct Entry<F: Framing> {
    /// Place in the lasting bytes, of a request that is fixed unless the user has cookies.
    pub(super) lasting: Option<(u32, u32)>,
    /// How it is rendered; absent where the lasting bytes are all that is ever sent.
    pub(super) plan: Option<F::Plan<Node>>,
    /// The bytes of a request that is fixed but for its trace; without a plan's values they are only copied.
    pub(super) stamped: Option<Stamped>,
}

/// A request that is fixed but for the value of `traceparent`, which is always of one length.
#[derive(Debug)]
pub(super) struct Stamped {
    bytes: Vec<u8>,
    at: usize,
    tracing: Tracing,
}

impl Stamped {
    /// Of a plan; none where its bytes do not hold the value as it is.
    fn new<F: Framing>(plan: &F::Plan<Node>, tracing: Tracing) -> Option<Self> {
        let mut bytes = Vec::new();
        plan.render(&mut OfFirst(tracing), &mut bytes, &mut Vec::new()).ok()?;
        let value = tracing.context(0).traceparent();
        let at = bytes.windows(value.len()).position(|part| part == value)?;
        Some(Self { bytes, at, tracing })
    }

    /// Request `global` in the place of what is in `out`.
    #[inline]
    pub(super) fn render(&self, global: u64, out: &mut Vec<u8>) {
        out.clear();
        out.extend_from_slice(&self.bytes);
        let value = self.tracing.context(global).traceparent();
        out[self.at..self.at + value.len()].copy_from_slice(&value);
    }
}

/// Fills in the trace of request 0.
struct OfFirst(Tracing);

impl Fill<Node> for OfFirst {
    type Error = MakeCause;

    fn fill(&mut self, _: &Node, _: Spot, out: &mut Vec<u8>) -> Result<(), MakeCause> {
        out.extend_from_slice(&self.0.context(0).traceparent());
        Ok(())
    }

    fn has_cookies(&self) -> bool {
        false
    }

    fn fill_cookies(&mut self, _: &mut Vec<u8>) -> Result<(), MakeCause> {
        Ok(())
    }

    fn judge_target(&self, _: Option<u8>) -> Result<(), MakeCause> {
        Ok(())
    }
}

impl<F: Framing> Framed<F> {
    /// Frames every request of a program.
    ///
    /// # Errors
    /// The fixed requests exceed 4 GiB together.
    pub fn new(program: &Arc<Program>) -> Result<Arc<Self>, ProgramError> {
        let mut lasting = Vec::new();
        let mut entries = Vec::new();
        for (index, entry) in program.entries.iter().enumerate() {
            let (message, is_fixed) = (entry.outline.message(), entry.outline.is_fixed());
            let prepared = is_fixed.then(|| F::prepare(&message));
            let place = prepared.map(|bytes| append(&mut lasting, &bytes).ok_or_else(|| too_much(index)));
            let plan = (!is_fixed || message.has_cookies).then(|| F::Plan::new(&message));
            let tracing = entry.outline.only_trace();
            let stamped =
                tracing.zip(plan.as_ref()).and_then(|(tracing, plan)| Stamped::new::<F>(plan, tracing));
            entries.push(Entry { lasting: place.transpose()?, plan, stamped });
        }
        Ok(Arc::new(Self { program: program.clone(), entries, lasting: lasting.into() }))
    }

    /// The program.
    #[must_use]
    pub fn program(&self) -> &Program {
        &self.program
    }

    /// The program, for a framing beside this one.
    pub(crate) const fn shared(&self) -> &Arc<Program> {
        &self.program
    }

    /// All requests whose bytes never change, one after the other, as the protocol prepared them.
    #[must_use]
    pub fn lasting_bytes(&self) -> Arc<[u8]> {
        self.lasting.clone()
    }

    /// The only request, where all requests are the same bytes: then nothing needs to be made.
    #[must_use]
    pub fn constant(&self) -> Option<Made> {
        if self.program.steps.is_some() {
            return None;
        }
        let entry = self.program.only_entry()?;
        let (from, to) = self.entries[usize::from(entry)].lasting?;
        Some(Made { entry, bytes: Bytes::Lasting { from, to }, token: None })
    }

    /// How one request is framed.
    #[inline]
    pub(super) fn entry(&self, entry: u16) -> &Entry<F> {
        &self.entries[usize::from(entry)]
    }
}

/// Where `bytes` stand once they are appended; none beyond 32 bits.
fn append(lasting: &mut Vec<u8>, bytes: &[u8]) -> Option<(u32, u32)> {
    let from = u32::try_from(lasting.len()).ok()?;
    let to = u32::try_from(lasting.len() + bytes.len()).ok()?;
    lasting.extend_from_slice(bytes);
    Some((from, to))
}

fn too_much(index: usize) -> ProgramError {
    let cause = "all fixed requests exceed 4 GiB";
    ProgramError::new(format!("requests.{index}.body"), cause, "send smaller bodies")
}
