//! A program whose messages a protocol has framed: fixed ones are prepared, the others planned, once for all workers.

use super::made::{Bytes, Made};
use super::{Program, ProgramError};
use crate::template::node::Node;
use std::sync::Arc;
use wire::{Framing, Planned as _};

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
            entries.push(Entry { lasting: place.transpose()?, plan });
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
