//! What is counted of connections that carry streams (HTTP/2).

use serde::{Deserialize, Serialize};

/// What became of streams and of the connections below them. Counts of a connection are added when it ends.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
pub struct StreamCounts {
    /// The fewest streams at a time that a connection was granted: what was asked for, or fewer where the peer allows
    /// fewer. Absent without such a connection.
    pub granted_min: Option<u32>,
    /// Requests that the peer left unprocessed as it said goodbye, and that were put back to be sent once more.
    pub requeued: u64,
    /// GOAWAY frames of the peer.
    pub goaways: u64,
    /// Streams that the peer reset, refused ones included.
    pub resets: u64,
    /// Times that a request's body had to wait for a window of the peer.
    pub stalls: u64,
}

impl StreamCounts {
    /// Adds others.
    pub fn add(&mut self, other: &Self) {
        self.granted_min = match (self.granted_min, other.granted_min) {
            (Some(one), Some(two)) => Some(one.min(two)),
            (one, two) => one.or(two),
        };
        self.requeued += other.requeued;
        self.goaways += other.goaways;
        self.resets += other.resets;
        self.stalls += other.stalls;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_fewest_streams_count() {
        let granted = |granted_min| StreamCounts { granted_min, resets: 1, ..StreamCounts::default() };
        let mut sum = granted(None);
        for (streams, fewest) in [(None, None), (Some(9), Some(9)), (Some(10), Some(9)), (None, Some(9))] {
            sum.add(&granted(streams));
            assert_eq!(sum.granted_min, fewest);
        }
        assert_eq!(sum.resets, 5);
    }
}
