//! Error codes (RFC 9113 §7).

use std::fmt;

/// Why a stream or a connection ends; unknown codes are kept as they come.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct ErrorCode(pub u32);

impl ErrorCode {
    /// Nothing went wrong.
    pub const NO_ERROR: Self = Self(0);
    /// The peer breaks the protocol.
    pub const PROTOCOL_ERROR: Self = Self(1);
    /// The sender cannot go on.
    pub const INTERNAL_ERROR: Self = Self(2);
    /// More bytes than a window allows.
    pub const FLOW_CONTROL_ERROR: Self = Self(3);
    /// A frame for a stream that has ended.
    pub const STREAM_CLOSED: Self = Self(5);
    /// A frame of a wrong length.
    pub const FRAME_SIZE_ERROR: Self = Self(6);
    /// The stream was not processed at all.
    pub const REFUSED_STREAM: Self = Self(7);
    /// The stream is not wanted any more.
    pub const CANCEL: Self = Self(8);
    /// A header block that cannot be read.
    pub const COMPRESSION_ERROR: Self = Self(9);
    /// The peer asks for too much.
    pub const ENHANCE_YOUR_CALM: Self = Self(11);

    /// The name of RFC 9113, where it has one.
    #[must_use]
    pub const fn name(self) -> Option<&'static str> {
        Some(match self.0 {
            0 => "NO_ERROR",
            1 => "PROTOCOL_ERROR",
            2 => "INTERNAL_ERROR",
            3 => "FLOW_CONTROL_ERROR",
            4 => "SETTINGS_TIMEOUT",
            5 => "STREAM_CLOSED",
            6 => "FRAME_SIZE_ERROR",
            7 => "REFUSED_STREAM",
            8 => "CANCEL",
            9 => "COMPRESSION_ERROR",
            10 => "CONNECT_ERROR",
            11 => "ENHANCE_YOUR_CALM",
            12 => "INADEQUATE_SECURITY",
            13 => "HTTP_1_1_REQUIRED",
            _ => return None,
        })
    }
}

impl fmt::Display for ErrorCode {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.name() {
            Some(name) => formatter.write_str(name),
            None => write!(formatter, "error code {}", self.0),
        }
    }
}

impl fmt::Debug for ErrorCode {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, formatter)
    }
}
