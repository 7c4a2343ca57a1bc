//! What can be wrong with an answer as gRPC.

use super::limit::MESSAGE_BYTES_MAX;

/// What is wrong. The stream carries nothing that can be trusted after it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, thiserror::Error)]
pub enum Fault {
    /// The answer is not gRPC.
    #[error("the answer is not gRPC: its content-type does not begin with application/grpc")]
    NotGrpc,
    /// The first byte of a prefix is neither 0 nor 1.
    #[error("a message that begins with byte {0}, which is neither 0 nor 1")]
    Flag(u8),
    /// A compressed message where no coding was named.
    #[error("a compressed message, though grpc-encoding names no coding")]
    Uncoded,
    /// A message that is longer than allowed.
    #[error("a message of {0} bytes; at most {MESSAGE_BYTES_MAX} are allowed")]
    TooLong(u32),
    /// The answer ends within a message.
    #[error("the answer ends within a message")]
    Cut,
    /// The answer has no status.
    #[error("no grpc-status came")]
    NoStatus,
    /// The status came more than once.
    #[error("grpc-status came more than once")]
    StatusTwice,
    /// The status is no number.
    #[error("a grpc-status that is no number")]
    BadStatus,
    /// A call of one answer succeeded without a message.
    #[error("grpc-status is 0, but no message came")]
    NoMessage,
    /// A call of one answer got several.
    #[error("more than one message came for a call of one")]
    Several,
}
