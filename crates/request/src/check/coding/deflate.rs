//! gzip (RFC 1952), zlib (RFC 1950) and bare deflate (RFC 1951).

use super::step::Step;
use crate::check::undecoded::Undecoded;
use flate2::{Decompress, FlushDecompress, Status};

const WINDOW_BITS: u8 = 15;

#[derive(Debug)]
pub(super) struct Deflate {
    /// Absent before the first byte has shown whether this is zlib or bare deflate.
    inner: Option<Decompress>,
    is_gzip: bool,
    is_complete: bool,
    /// Found behind bytes that came out first.
    is_damaged: bool,
}

impl Deflate {
    pub(super) fn gzip() -> Self {
        Self {
            inner: Some(Decompress::new_gzip(WINDOW_BITS)),
            is_gzip: true,
            is_complete: false,
            is_damaged: false,
        }
    }

    /// `deflate` means zlib, yet many servers send the bare format.
    pub(super) const fn unknown() -> Self {
        Self { inner: None, is_gzip: false, is_complete: false, is_damaged: false }
    }

    pub(super) const fn is_complete(&self) -> bool {
        self.is_complete
    }

    pub(super) fn step(&mut self, rest: &mut &[u8], out: &mut [u8]) -> Result<Step, Undecoded> {
        if self.is_damaged {
            return Err(Undecoded::Damaged);
        }
        if self.is_complete {
            self.after_the_end(rest)?;
        }
        let Some(first) = rest.first() else { return self.drain(out) };
        // A zlib header says "deflate" and a window; no encoder begins the bare format like this.
        let is_zlib = first & 0x8f == 0x08;
        let inner = self.inner.get_or_insert_with(|| Decompress::new(is_zlib));
        let (count, status, taken) = run(inner, rest, out);
        *rest = &rest[taken..];
        self.take(status);
        if count == 0 && taken == 0 && !self.is_complete {
            return Err(Undecoded::Damaged);
        }
        Ok(Step::Out(count))
    }

    /// What was found: damage is reported after the bytes before it, so that these are the same in any split.
    fn take(&mut self, status: Option<Status>) {
        self.is_complete = status == Some(Status::StreamEnd);
        self.is_damaged = status.is_none();
    }

    /// Output that found no room with the input before it.
    fn drain(&mut self, out: &mut [u8]) -> Result<Step, Undecoded> {
        let Some(inner) = self.inner.as_mut().filter(|_| !self.is_complete) else { return Ok(Step::Done) };
        let (count, status, _) = run(inner, &[], out);
        self.take(status);
        Ok(if count == 0 && !self.is_damaged { Step::Done } else { Step::Out(count) })
    }

    /// gzip may hold several members; anything else behind the end is damage.
    fn after_the_end(&mut self, rest: &[u8]) -> Result<(), Undecoded> {
        match (rest.is_empty(), self.is_gzip) {
            (true, _) => Ok(()),
            (false, true) => {
                *self = Self::gzip();
                Ok(())
            }
            (false, false) => Err(Undecoded::Damaged),
        }
    }
}

/// Bytes that came out, what the decoder says (nothing where the input is damaged), and bytes that went in.
fn run(inner: &mut Decompress, rest: &[u8], out: &mut [u8]) -> (usize, Option<Status>, usize) {
    let (before_in, before_out) = (inner.total_in(), inner.total_out());
    let status = inner.decompress(rest, out, FlushDecompress::None).ok();
    let count = (inner.total_out() - before_out) as usize;
    (count, status, (inner.total_in() - before_in) as usize)
}
