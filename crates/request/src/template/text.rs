//! Conversions from bytes in scratch memory to bytes behind them, and hashes of bytes.
//!
//! Invariant: nothing allocates once the scratch memory has grown.

use super::value::Span;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};

const HEX: &[u8; 16] = b"0123456789abcdef";

pub(super) fn push_hex(out: &mut Vec<u8>, bytes: &[u8]) {
    for byte in bytes {
        out.push(HEX[usize::from(byte >> 4)]);
        out.push(HEX[usize::from(byte & 15)]);
    }
}

pub(super) fn sha256(scratch: &mut Vec<u8>, from: Span) {
    let digest = ring::digest::digest(&ring::digest::SHA256, &scratch[from.range()]);
    push_hex(scratch, digest.as_ref());
}

pub(super) fn base64(scratch: &mut Vec<u8>, from: Span) {
    encode_with(&STANDARD, scratch, from);
}

pub(super) fn base64url(scratch: &mut Vec<u8>, from: Span) {
    encode_with(&URL_SAFE_NO_PAD, scratch, from);
}

fn encode_with(engine: &impl base64::Engine, scratch: &mut Vec<u8>, from: Span) {
    let start = scratch.len();
    scratch.resize(start + from.range().len().div_ceil(3) * 4, 0);
    let (before, behind) = scratch.split_at_mut(start);
    // The room is that of padded base64, which is never too small.
    let length = engine.encode_slice(&before[from.range()], behind).unwrap_or(0);
    scratch.truncate(start + length);
}

/// All but the unreserved characters of RFC 3986 §2.3.
pub(super) fn urlencode(scratch: &mut Vec<u8>, from: Span) {
    for at in from.range() {
        let byte = scratch[at];
        if byte.is_ascii_alphanumeric() || b"-._~".contains(&byte) {
            scratch.push(byte);
        } else {
            push_percent(scratch, byte);
        }
    }
}

pub(crate) fn push_percent(out: &mut Vec<u8>, byte: u8) {
    const UPPER: &[u8; 16] = b"0123456789ABCDEF";
    out.extend_from_slice(&[b'%', UPPER[usize::from(byte >> 4)], UPPER[usize::from(byte & 15)]]);
}

pub(super) fn lower(scratch: &mut Vec<u8>, from: Span) {
    from.range().for_each(|at| scratch.push(scratch[at].to_ascii_lowercase()));
}

pub(super) fn upper(scratch: &mut Vec<u8>, from: Span) {
    from.range().for_each(|at| scratch.push(scratch[at].to_ascii_uppercase()));
}

pub(super) fn crc32(bytes: &[u8]) -> u64 {
    u64::from(crc32fast::hash(bytes))
}

/// FNV-1a, 64 bits (draft-eastlake-fnv).
pub(super) fn fnv1a(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(*byte)).wrapping_mul(0x0000_0100_0000_01b3)
    })
}

/// xxHash, 64 bits, seed 0.
pub(super) fn xxh64(bytes: &[u8]) -> u64 {
    twox_hash::XxHash64::oneshot(0, bytes)
}
