//! What the kernel knows of one TCP connection: the fields of `struct tcp_info` (include/uapi/linux/tcp.h) that are
//! used. Newer kernels append fields, so a field beyond the end of an older one's answer is absent.

/// A connection; times as the kernel has them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TcpInfo {
    /// Retransmission timeout.
    pub rto_us: u32,
    /// Segments that were sent and not yet acknowledged.
    pub unacked: u32,
    /// Segments that were sent again and not yet acknowledged.
    pub retrans: u32,
    /// Since data were last sent, in milliseconds as coarse as the kernel's timer.
    pub sent_ago_ms: u32,
    /// Since data were last received, likewise.
    pub received_ago_ms: u32,
    /// Since an acknowledgement was last received, with data or without, likewise.
    pub acknowledged_ago_ms: u32,
    /// Smoothed round-trip time.
    pub rtt_us: u32,
    /// Congestion window in segments.
    pub cwnd: u32,
    /// Segments sent again since the connection was opened.
    pub total_retrans: u32,
    /// Bytes written by the program and not yet sent (Linux 4.6).
    pub notsent_bytes: Option<u32>,
    /// Smallest round-trip time (Linux 4.6); `u32::MAX` where none was measured.
    pub min_rtt_us: Option<u32>,
    /// Segments that carried data to the peer (Linux 4.6).
    pub data_segments_sent: Option<u32>,
    /// Latest measured speed of delivery (Linux 4.9).
    pub delivery_rate_bytes_per_s: Option<u64>,
    /// Bytes sent again (Linux 4.19).
    pub bytes_retrans: Option<u64>,
}

impl TcpInfo {
    /// Parses the structure; what is cut off is zero in the fields that every kernel has, and absent in others.
    #[must_use]
    pub fn parse(bytes: &[u8]) -> Self {
        let short = |at: usize| bytes.get(at..)?.first_chunk().map(|bytes| u32::from_ne_bytes(*bytes));
        let long = |at: usize| bytes.get(at..)?.first_chunk().map(|bytes| u64::from_ne_bytes(*bytes));
        let always = |at: usize| short(at).unwrap_or_default();
        Self {
            rto_us: always(8),
            unacked: always(24),
            retrans: always(36),
            sent_ago_ms: always(44),
            received_ago_ms: always(52),
            acknowledged_ago_ms: always(56),
            rtt_us: always(68),
            cwnd: always(80),
            total_retrans: always(100),
            notsent_bytes: short(144),
            min_rtt_us: short(148),
            data_segments_sent: short(156),
            delivery_rate_bytes_per_s: long(160),
            bytes_retrans: long(208),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_lie_where_the_kernel_puts_them_and_may_be_cut_off() {
        let mut bytes = vec![0_u8; 248];
        for (at, value) in [
            (8, 204_000_u32),
            (24, 3),
            (36, 1),
            (44, 4),
            (52, 9),
            (56, 6),
            (68, 42),
            (80, 10),
            (100, 7),
            (144, 999),
            (148, 21),
            (156, 17),
        ] {
            bytes[at..at + 4].copy_from_slice(&value.to_ne_bytes());
        }
        bytes[160..168].copy_from_slice(&(1_u64 << 33).to_ne_bytes());
        bytes[208..216].copy_from_slice(&1_448_u64.to_ne_bytes());
        let info = TcpInfo::parse(&bytes);
        assert_eq!((info.rto_us, info.unacked, info.retrans, info.rtt_us), (204_000, 3, 1, 42));
        assert_eq!((info.cwnd, info.total_retrans, info.notsent_bytes), (10, 7, Some(999)));
        assert_eq!((info.sent_ago_ms, info.received_ago_ms, info.acknowledged_ago_ms), (4, 9, 6));
        assert_eq!(info.data_segments_sent, Some(17));
        assert_eq!((info.min_rtt_us, info.bytes_retrans), (Some(21), Some(1_448)));
        assert_eq!(info.delivery_rate_bytes_per_s, Some(1 << 33));
        let old = TcpInfo::parse(&bytes[..104]);
        assert_eq!((old.total_retrans, old.notsent_bytes, old.bytes_retrans), (7, None, None));
        assert_eq!(TcpInfo::parse(&[]), TcpInfo::default());
    }
}
