//! Frames (RFC 9113 §4 and §6): their headers, and how those that we send are written.

use super::code::ErrorCode;

/// Bytes of a frame header.
pub(super) const HEADER_BYTES: usize = 9;

/// The bits of a stream identifier; the highest is reserved.
pub(super) const ID_MASK: u32 = 0x7fff_ffff;

/// Types of frames.
pub(super) mod kind {
    pub(crate) const DATA: u8 = 0;
    pub(crate) const HEADERS: u8 = 1;
    pub(crate) const PRIORITY: u8 = 2;
    pub(crate) const RST_STREAM: u8 = 3;
    pub(crate) const SETTINGS: u8 = 4;
    pub(crate) const PUSH_PROMISE: u8 = 5;
    pub(crate) const PING: u8 = 6;
    pub(crate) const GOAWAY: u8 = 7;
    pub(crate) const WINDOW_UPDATE: u8 = 8;
    pub(crate) const CONTINUATION: u8 = 9;
}

/// Flags of frames.
pub(super) mod flag {
    pub(crate) const ACK: u8 = 1;
    pub(crate) const END_STREAM: u8 = 1;
    pub(crate) const END_HEADERS: u8 = 4;
    pub(crate) const PADDED: u8 = 8;
    pub(crate) const PRIORITY: u8 = 0x20;
}

/// A frame header.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Frame {
    /// Of the payload.
    pub(super) length: u32,
    pub(super) kind: u8,
    pub(super) flags: u8,
    pub(super) stream: u32,
}

impl Frame {
    #[inline]
    pub(super) const fn read(bytes: [u8; HEADER_BYTES]) -> Self {
        let [l0, l1, l2, kind, flags, s0, s1, s2, s3] = bytes;
        let length = u32::from_be_bytes([0, l0, l1, l2]);
        Self { length, kind, flags, stream: u32::from_be_bytes([s0, s1, s2, s3]) & ID_MASK }
    }

    #[inline]
    pub(super) const fn bytes(self) -> [u8; HEADER_BYTES] {
        let [_, l0, l1, l2] = self.length.to_be_bytes();
        let [s0, s1, s2, s3] = self.stream.to_be_bytes();
        [l0, l1, l2, self.kind, self.flags, s0, s1, s2, s3]
    }

    #[inline]
    pub(super) const fn has(self, flag: u8) -> bool {
        self.flags & flag != 0
    }

    /// The name of the type, for messages.
    pub(super) const fn name(self) -> &'static str {
        match self.kind {
            kind::DATA => "DATA",
            kind::HEADERS => "HEADERS",
            kind::PRIORITY => "PRIORITY",
            kind::RST_STREAM => "RST_STREAM",
            kind::SETTINGS => "SETTINGS",
            kind::PUSH_PROMISE => "PUSH_PROMISE",
            kind::PING => "PING",
            kind::GOAWAY => "GOAWAY",
            kind::WINDOW_UPDATE => "WINDOW_UPDATE",
            kind::CONTINUATION => "CONTINUATION",
            _ => "unknown",
        }
    }
}

/// Appends a frame.
pub(super) fn put(kind: u8, flags: u8, stream: u32, payload: &[u8], out: &mut Vec<u8>) {
    out.extend_from_slice(&Frame { length: payload.len() as u32, kind, flags, stream }.bytes());
    out.extend_from_slice(payload);
}

/// Appends WINDOW_UPDATE; stream 0 is the connection.
pub(super) fn put_window_update(stream: u32, by: u32, out: &mut Vec<u8>) {
    put(kind::WINDOW_UPDATE, 0, stream, &by.to_be_bytes(), out);
}

/// Appends RST_STREAM.
pub(super) fn put_reset(stream: u32, code: ErrorCode, out: &mut Vec<u8>) {
    put(kind::RST_STREAM, 0, stream, &code.0.to_be_bytes(), out);
}

/// Appends GOAWAY. A server opens no streams here, so the last is 0.
pub(super) fn put_goaway(code: ErrorCode, out: &mut Vec<u8>) {
    let mut payload = [0; 8];
    payload[4..].copy_from_slice(&code.0.to_be_bytes());
    put(kind::GOAWAY, 0, 0, &payload, out);
}

/// A number of 32 bits at the begin of a payload.
pub(super) fn number(payload: &[u8]) -> Option<u32> {
    payload.first_chunk().map(|bytes| u32::from_be_bytes(*bytes))
}
