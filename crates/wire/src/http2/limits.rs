//! Limits against hostile servers, each with its source, and what is counted against them.
//!
//! There is no clock here: counts per time begin again with each call of [`super::Connection::tick`].

/// Longest frame that is taken: SETTINGS_MAX_FRAME_SIZE keeps its default, the smallest there is (RFC 9113 §4.2).
pub const FRAME_BYTES_MAX: u32 = 16 * 1024;
/// CONTINUATION frames of one header block. A block of 64 KiB needs three at the usual length; servers that cut smaller
/// are seen, floods have thousands (CVE-2024-27316 and its kin).
pub const CONTINUATIONS_MAX: u32 = 8;
/// Longest header block as it is sent. What it says has the same limit ([`crate::hpack::LIST_BYTES_MAX`]).
pub const BLOCK_BYTES_MAX: usize = 64 * 1024;
/// Settings in one frame; nine are registered.
pub const SETTINGS_MAX: usize = 64;
/// SETTINGS frames in a tick (CVE-2019-9515).
pub const SETTINGS_FRAMES_MAX: u32 = 100;
/// Answers to PING and SETTINGS that the owner has not sent yet (CVE-2019-9512).
pub const UNSENT_ANSWERS_MAX: u32 = 64;
/// Frames in a row, within a tick, that bring no answer on (CVE-2019-9518).
pub const BARREN_FRAMES_MAX: u32 = 1000;
/// Interim answers before the final one, as with HTTP/1.1.
pub const INTERIM_MAX: u8 = 32;
/// Cancelled requests in a tick that are always allowed; beyond that, one in a hundred answers.
pub const CANCELS_MAX: u32 = 10;
/// Streams of a connection at a time, however many are asked for: their ring is allocated at once.
pub const OPEN_STREAMS_MAX: u32 = 1 << 16;
/// Body bytes that one call writes, so that the owner's buffer stays small.
pub const BODY_BYTES_A_CALL: usize = 64 * 1024;

/// What a connection has seen and done, from its begin.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Answers that came to their end.
    pub answers: u64,
    /// Streams that the peer reset, refused ones included.
    pub resets: u64,
    /// Streams that the owner cancelled.
    pub cancels: u64,
    /// GOAWAY frames.
    pub goaways: u64,
    /// SETTINGS frames with settings.
    pub settings: u64,
    /// PING frames that were answered.
    pub pings: u64,
    /// DATA frames of a single byte.
    pub tiny_data: u64,
    /// Times that a request had to wait for a window.
    pub stalls: u64,
}

/// Counts that begin again with a tick, or with an answer that goes on.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Strain {
    pub(super) settings: u32,
    pub(super) barren: u32,
    pub(super) cancels: u32,
    pub(super) answers: u32,
    pub(super) unsent_answers: u32,
}

impl Strain {
    /// A time of the owner's choice, usually a second, has passed.
    pub(super) const fn tick(&mut self) {
        *self = Self { unsent_answers: self.unsent_answers, ..Self::new() };
    }

    const fn new() -> Self {
        Self { settings: 0, barren: 0, cancels: 0, answers: 0, unsent_answers: 0 }
    }

    /// Whether one more request may be cancelled, else its connection should end: many cancelled streams look like an
    /// attack (CVE-2023-44487).
    pub(super) const fn may_cancel(&self) -> bool {
        let share = self.answers / 100;
        self.cancels < if share > CANCELS_MAX { share } else { CANCELS_MAX }
    }
}
