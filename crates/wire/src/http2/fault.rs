//! What can be wrong with a peer or with one of its answers.

use super::code::ErrorCode;
use crate::Malformed;
use crate::hpack::HpackError;

/// What is wrong. Whether it ends a stream or the connection depends on where it is found.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, thiserror::Error)]
pub enum Fault {
    /// The first bytes are those of HTTP/1.
    #[error("the peer speaks HTTP/1, not HTTP/2")]
    Http1,
    /// The first frame is not SETTINGS (RFC 9113 §3.4).
    #[error("the first frame is not SETTINGS")]
    NoSettings,
    /// A frame above 16 KiB.
    #[error("a frame of {0} bytes; at most 16384 are allowed")]
    FrameTooLong(u32),
    /// A frame whose length its type does not have.
    #[error("a {0} frame of a wrong length")]
    FrameLength(&'static str),
    /// A frame on a stream that it cannot be on.
    #[error("a {0} frame on stream {1}, where it cannot be")]
    WrongStream(&'static str, u32),
    /// HEADERS or DATA after the end of the stream.
    #[error("a {0} frame on stream {1}, which has ended")]
    StreamEnded(&'static str, u32),
    /// Padding as long as the frame, or longer.
    #[error("padding longer than its frame")]
    Padding,
    /// PUSH_PROMISE, or push switched on, though it is switched off.
    #[error("server push, which is switched off")]
    Push,
    /// A frame within a header block, or CONTINUATION outside.
    #[error("a frame within a header block, or CONTINUATION outside of one")]
    Interleaved,
    /// More than 8 CONTINUATION frames or 64 KiB.
    #[error("a header block of more than 8 CONTINUATION frames or 64 KiB")]
    BlockTooLong,
    /// A header block that HPACK cannot read.
    #[error(transparent)]
    Hpack(#[from] HpackError),
    /// DATA beyond a window.
    #[error("more DATA than the window allows")]
    WindowExceeded,
    /// WINDOW_UPDATE by 0.
    #[error("WINDOW_UPDATE by 0")]
    WindowZero,
    /// A window above 2^31 - 1.
    #[error("a window above 2^31 - 1")]
    WindowOverflow,
    /// A setting with a value that it cannot have.
    #[error("a bad value of SETTINGS_{0}")]
    Setting(&'static str),
    /// More than 64 settings in a frame, or 100 frames in a tick.
    #[error("a flood of SETTINGS")]
    SettingsFlood,
    /// More than 64 answers to PING and SETTINGS that could not be sent.
    #[error("a flood of PING")]
    PingFlood,
    /// More than 1,000 frames in a row that bring no answer on.
    #[error("a flood of frames that bring no answer on")]
    BarrenFlood,
    /// GOAWAY that takes more streams than one before.
    #[error("GOAWAY with a higher stream than the one before")]
    RisingGoaway,
    /// SETTINGS that were acknowledged though none were sent.
    #[error("SETTINGS acknowledged that were not sent")]
    UnaskedAck,
    /// Header fields that HTTP/2 does not allow.
    #[error("bad header fields: {0}")]
    Fields(&'static str),
    /// Content-Length that is none.
    #[error(transparent)]
    Length(#[from] Malformed),
    /// A body of another length than Content-Length says, or one where there can be none.
    #[error("the body has another length than the header fields say")]
    BodyLength,
    /// DATA before the header fields.
    #[error("DATA before the header fields")]
    NoHead,
    /// Trailers that do not end the answer.
    #[error("header fields after the body that do not end the answer")]
    OpenTrailers,
    /// An interim answer that ends the stream.
    #[error("an answer that ends with an interim status")]
    InterimEnd,
    /// More than 32 interim answers.
    #[error("more than 32 interim answers")]
    TooManyInterim,
}

impl Fault {
    /// The code that tells the peer (RFC 9113 §7).
    #[must_use]
    pub const fn code(self) -> ErrorCode {
        match self {
            Self::FrameTooLong(_) | Self::FrameLength(_) => ErrorCode::FRAME_SIZE_ERROR,
            Self::StreamEnded(..) => ErrorCode::STREAM_CLOSED,
            Self::Hpack(error) if !error.is_limit() => ErrorCode::COMPRESSION_ERROR,
            Self::WindowExceeded | Self::WindowOverflow => ErrorCode::FLOW_CONTROL_ERROR,
            _ if self.is_flood() => ErrorCode::ENHANCE_YOUR_CALM,
            _ => ErrorCode::PROTOCOL_ERROR,
        }
    }

    /// Whether the peer asked for too much, in contrast to breaking the protocol.
    #[must_use]
    pub const fn is_flood(self) -> bool {
        match self {
            Self::Hpack(error) => error.is_limit(),
            Self::BlockTooLong
            | Self::SettingsFlood
            | Self::PingFlood
            | Self::BarrenFlood
            | Self::TooManyInterim => true,
            _ => false,
        }
    }
}
