//! A request as it waits for a connection: what `http2` prepares, plans and renders, and each connection writes as frames.
//!
//! Ten bytes: a mark, flags, the length of the parts of the header block and the length of DATA frames (both little-endian,
//! four bytes; 0: as long as may be). Then the parts (`hpack`), then the body.

use crate::hpack::{push_field, push_scheme};
use std::num::NonZeroUsize;

/// No request of HTTP/1.1 begins so.
const MARK: u8 = 2;
/// The method is HEAD.
const TO_HEAD: u8 = 1;
/// Other requests have the same header block.
const FIXED: u8 = 2;
const PARTS_AT: usize = 10;

/// A request as a connection reads it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Parcel<'a> {
    pub(super) to_head: bool,
    pub(super) is_fixed: bool,
    /// Longest DATA frame.
    pub(super) chunk_bytes: usize,
    pub(super) parts: &'a [u8],
    pub(super) body: &'a [u8],
}

impl<'a> Parcel<'a> {
    /// `None` where the bytes are no request of HTTP/2.
    #[inline]
    pub(super) fn read(bytes: &'a [u8]) -> Option<Self> {
        let (&[mark, flags, p0, p1, p2, p3, c0, c1, c2, c3], rest) = bytes.split_first_chunk()?;
        if mark != MARK {
            return None;
        }
        let (parts, body) = rest.split_at_checked(u32::from_le_bytes([p0, p1, p2, p3]) as usize)?;
        let chunk_bytes = match u32::from_le_bytes([c0, c1, c2, c3]) {
            0 => usize::MAX,
            bytes => bytes as usize,
        };
        let (to_head, is_fixed) = (flags & TO_HEAD != 0, flags & FIXED != 0);
        Some(Self { to_head, is_fixed, chunk_bytes, parts, body })
    }

    /// The length of the parts that the body is sent in, where that was asked for.
    pub(super) fn parts_of(&self) -> Option<NonZeroUsize> {
        NonZeroUsize::new(self.chunk_bytes).filter(|bytes| bytes.get() != usize::MAX)
    }
}

/// The begin of a parcel, with the method and the place of the scheme; its parts follow, and then [`seal`].
pub(super) fn begin(method: &str, chunk_bytes: u32, out: &mut Vec<u8>) {
    let flags = if method == "HEAD" { TO_HEAD } else { 0 };
    out.extend_from_slice(&[MARK, flags, 0, 0, 0, 0]);
    out.extend_from_slice(&chunk_bytes.to_le_bytes());
    push_field(b":method", method.as_bytes(), out);
    push_scheme(out);
}

/// Ends the parts of a parcel that begins at the first byte; the body follows.
pub(super) fn seal(is_fixed: bool, out: &mut [u8]) {
    let length = (out.len() - PARTS_AT) as u32;
    out[2..6].copy_from_slice(&length.to_le_bytes());
    if is_fixed {
        out[1] |= FIXED;
    }
}

/// Says that requests like this one have header blocks of their own.
pub(super) fn vary(parcel: &mut [u8]) {
    if let Some(flags) = parcel.get_mut(1) {
        *flags &= !FIXED;
    }
}
