//! Zstandard (RFC 8878), one frame, with windows of at most 8 MiB (RFC 9659).
//!
//! The library wants whole blocks, so the bytes of the block that has begun are kept, at most 128 KiB.

use super::step::Step;
use crate::check::undecoded::Undecoded;
use ruzstd::decoding::{BlockDecodingStrategy, FrameDecoder};
use std::fmt;
use std::io::Read as _;

const WINDOW_BYTES_MAX: u64 = 8 << 20;
const BLOCK_BYTES_MAX: usize = 128 << 10;
/// Magic number and descriptor.
const HEAD_BYTES: usize = 5;
const BLOCK_HEAD_BYTES: usize = 3;
const CHECKSUM_BYTES: usize = 4;

pub(super) struct Zstd {
    frame: FrameDecoder,
    /// What the next step of the frame needs and has of it.
    pending: Vec<u8>,
    place: Place,
    has_checksum: bool,
}

/// What comes next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Place {
    Header,
    Block,
    End,
}

impl fmt::Debug for Zstd {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Zstd").field("place", &self.place).finish_non_exhaustive()
    }
}

impl Zstd {
    pub(super) fn new() -> Self {
        let mut frame = FrameDecoder::new();
        frame.set_max_window_size(WINDOW_BYTES_MAX);
        Self { frame, pending: Vec::new(), place: Place::Header, has_checksum: false }
    }

    pub(super) fn is_complete(&self) -> bool {
        self.place == Place::End
    }

    pub(super) fn step(&mut self, rest: &mut &[u8], out: &mut [u8]) -> Result<Step, Undecoded> {
        loop {
            if self.place != Place::Header {
                // What a block gave before the next one is looked at, so that memory is bounded by the window.
                let count = self.frame.read(out).map_err(|_| Undecoded::Damaged)?;
                if count > 0 {
                    return Ok(Step::Out(count));
                }
            }
            if self.place == Place::End {
                let (sent, own) = (self.frame.get_checksum_from_data(), self.frame.get_calculated_checksum());
                if sent.is_some() && sent != own {
                    return Err(Undecoded::Damaged);
                }
                return if rest.is_empty() { Ok(Step::Done) } else { Err(Undecoded::Damaged) };
            }
            let wanted = self.wanted()?;
            if self.pending.len() < wanted {
                if rest.is_empty() {
                    return Ok(Step::Done);
                }
                let take = (wanted - self.pending.len()).min(rest.len());
                self.pending.extend_from_slice(&rest[..take]);
                *rest = &rest[take..];
                continue;
            }
            self.go_on()?;
            self.pending.clear();
        }
    }

    /// Bytes that the next step takes, as far as they are known.
    fn wanted(&self) -> Result<usize, Undecoded> {
        let have = &self.pending;
        if self.place == Place::Header {
            return Ok(have.get(HEAD_BYTES - 1).map_or(HEAD_BYTES, |descriptor| header_bytes(*descriptor)));
        }
        let Some(&[low, middle, high]) = have.get(..BLOCK_HEAD_BYTES) else { return Ok(BLOCK_HEAD_BYTES) };
        let head = u32::from_le_bytes([low, middle, high, 0]);
        let (is_last, kind, size) = (head & 1 == 1, head >> 1 & 3, (head >> 3) as usize);
        if size > BLOCK_BYTES_MAX {
            return Err(Undecoded::Damaged);
        }
        // A block of one repeated byte has just that.
        let content = if kind == 1 { 1 } else { size };
        let checksum = if is_last && self.has_checksum { CHECKSUM_BYTES } else { 0 };
        Ok(BLOCK_HEAD_BYTES + content + checksum)
    }

    /// Decodes the header or the block that is pending in full.
    fn go_on(&mut self) -> Result<(), Undecoded> {
        let damaged = |_| Undecoded::Damaged;
        if self.place == Place::Header {
            self.frame.init(self.pending.as_slice()).map_err(damaged)?;
            self.has_checksum = self.pending[HEAD_BYTES - 1] >> 2 & 1 == 1;
            self.place = Place::Block;
            return Ok(());
        }
        let one = BlockDecodingStrategy::UptoBlocks(1);
        let is_last = self.frame.decode_blocks(self.pending.as_slice(), one).map_err(damaged)?;
        if is_last {
            self.place = Place::End;
        }
        Ok(())
    }
}

/// Length of a frame's header by its descriptor (RFC 8878 §3.1.1.1).
fn header_bytes(descriptor: u8) -> usize {
    let is_single = descriptor >> 5 & 1 == 1;
    let window = usize::from(!is_single);
    let dictionary = [0, 1, 2, 4][usize::from(descriptor & 3)];
    let size = [usize::from(is_single), 2, 4, 8][usize::from(descriptor >> 6)];
    HEAD_BYTES + window + dictionary + size
}
