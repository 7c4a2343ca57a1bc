//! Brotli (RFC 7932), with windows of at most 16 MiB as HTTP has them.

use super::step::Step;
use crate::check::undecoded::Undecoded;
use brotli_decompressor::{BrotliDecompressStream, BrotliResult, BrotliState, StandardAlloc};
use std::fmt;

pub(super) struct Brotli {
    state: Box<BrotliState<StandardAlloc, StandardAlloc, StandardAlloc>>,
    is_complete: bool,
    /// Found behind bytes that came out first.
    is_damaged: bool,
}

impl fmt::Debug for Brotli {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Brotli").field("is_complete", &self.is_complete).finish_non_exhaustive()
    }
}

impl Brotli {
    pub(super) fn new() -> Self {
        let alloc = StandardAlloc::default;
        let state = Box::new(BrotliState::new_strict(alloc(), alloc(), alloc()));
        Self { state, is_complete: false, is_damaged: false }
    }

    pub(super) const fn is_complete(&self) -> bool {
        self.is_complete
    }

    pub(super) fn step(&mut self, rest: &mut &[u8], out: &mut [u8]) -> Result<Step, Undecoded> {
        if self.is_damaged {
            return Err(Undecoded::Damaged);
        }
        if self.is_complete {
            return if rest.is_empty() { Ok(Step::Done) } else { Err(Undecoded::Damaged) };
        }
        let (mut left, mut at, mut room, mut count, mut total) = (rest.len(), 0, out.len(), 0, 0);
        let result = BrotliDecompressStream(
            &mut left,
            &mut at,
            rest,
            &mut room,
            &mut count,
            out,
            &mut total,
            &mut self.state,
        );
        *rest = &rest[at..];
        match result {
            BrotliResult::ResultFailure => {
                // Told after the bytes before it, so that these are the same in any split.
                self.is_damaged = true;
                Ok(Step::Out(count))
            }
            BrotliResult::NeedsMoreInput if count == 0 => Ok(Step::Done),
            BrotliResult::NeedsMoreInput | BrotliResult::NeedsMoreOutput => Ok(Step::Out(count)),
            BrotliResult::ResultSuccess => {
                self.is_complete = true;
                Ok(Step::Out(count))
            }
        }
    }
}
