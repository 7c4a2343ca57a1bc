//! How long a message may be.

/// Longest message that is sent and taken, as gRPC's own libraries take by default.
pub const MESSAGE_BYTES_MAX: u32 = 4 << 20;
