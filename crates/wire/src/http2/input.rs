//! What is kept of a frame that comes in parts.

use super::events::Place;
use super::frame::{Frame, HEADER_BYTES};

/// Where in a frame the next byte is.
#[derive(Clone, Copy, Debug)]
pub(super) enum Reading {
    Header,
    /// In a payload that is read whole.
    Payload(Frame),
    /// In one that is ignored; so many bytes are left.
    Skip(u32),
    /// At the length of the padding of a DATA frame.
    PadLength(Frame),
    /// In a DATA frame.
    Data(Data),
}

/// A DATA frame whose header was read.
#[derive(Clone, Copy, Debug)]
pub(super) struct Data {
    pub(super) frame: Frame,
    /// Whose body it is; `None` where nobody wants it.
    pub(super) place: Option<Place>,
    /// Bytes of the body that are left.
    pub(super) left: u32,
    /// Bytes of padding that are left.
    pub(super) padding: u32,
}

/// A header block that comes in several frames.
#[derive(Clone, Copy, Debug)]
pub(super) struct Block {
    pub(super) stream: u32,
    /// Whether the stream ends with it.
    pub(super) ends: bool,
    pub(super) continuations: u32,
}

/// What was received and is not a whole frame or header block yet.
#[derive(Debug)]
pub(super) struct Input {
    pub(super) reading: Reading,
    header: [u8; HEADER_BYTES],
    header_bytes: usize,
    /// The begin of a payload that is read whole.
    pub(super) payload: Vec<u8>,
    pub(super) block: Option<Block>,
    /// The bytes of that block.
    pub(super) fragments: Vec<u8>,
}

impl Input {
    pub(super) const fn new() -> Self {
        Self {
            reading: Reading::Header,
            header: [0; HEADER_BYTES],
            header_bytes: 0,
            payload: Vec::new(),
            block: None,
            fragments: Vec::new(),
        }
    }

    /// A stream is over: what is still to come of its body is nobody's.
    pub(super) const fn forget(&mut self, stream: u32) {
        if let Reading::Data(data) = &mut self.reading
            && data.frame.stream == stream
        {
            data.place = None;
        }
    }

    /// Reads a frame header. Returns it, if it is whole, and the bytes taken.
    #[inline]
    pub(super) fn header(&mut self, input: &[u8]) -> (Option<Frame>, usize) {
        if self.header_bytes == 0
            && let Some(header) = input.first_chunk()
        {
            return (Some(Frame::read(*header)), HEADER_BYTES);
        }
        let taken = input.len().min(HEADER_BYTES - self.header_bytes);
        self.header[self.header_bytes..][..taken].copy_from_slice(&input[..taken]);
        self.header_bytes += taken;
        if self.header_bytes < HEADER_BYTES {
            return (None, taken);
        }
        self.header_bytes = 0;
        (Some(Frame::read(self.header)), taken)
    }
}
