//! Which trace a request belongs to: the header `traceparent` of W3C Trace Context, version 00.
//!
//! Invariants: ids and the sampled flag are functions of a seed and the number of the request over all workers, so that they
//! are known again from a file; no id is zero, which the standard forbids; nothing allocates.
//! Absent on purpose: where the header is written (`request`), and spans (`export`).

use crate::{Draw, Seed};
use std::fmt;

/// Ids of the requests of one load.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tracing {
    seed: Seed,
    draw: Draw,
}

/// The trace of one request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TraceContext {
    /// Never 0.
    pub trace_id: u128,
    /// Of the span that is the request as its client sees it; never 0.
    pub span_id: u64,
    /// Whether the target is asked to record its part.
    pub is_sampled: bool,
}

impl Tracing {
    /// Traces of a load of which a `share` is sampled, 0 to 1.
    #[must_use]
    pub fn new(seed: u64, share: f64) -> Self {
        let seed = Seed(seed).derive("trace", 0);
        Self { seed, draw: Draw::new(seed, "sampled", share) }
    }

    /// Whether the trace of request `request` is sampled.
    #[inline]
    #[must_use]
    pub fn is_sampled(self, request: u64) -> bool {
        self.draw.takes(request)
    }

    /// The trace of request `request`, counted from 0 over all workers.
    #[inline]
    #[must_use]
    pub fn context(self, request: u64) -> TraceContext {
        let half = |label| u128::from(self.seed.derive(label, request).0);
        TraceContext {
            trace_id: (half("high") << 64 | half("low")).max(1),
            span_id: self.seed.derive("span", request).0.max(1),
            is_sampled: self.is_sampled(request),
        }
    }
}

impl TraceContext {
    /// The name of the header.
    pub const HEADER: &str = "traceparent";
    /// Bytes of its value.
    pub const BYTES: usize = 55;

    /// The value of the header: `00-TRACE-SPAN-FLAGS`, in lower case.
    #[inline]
    #[must_use]
    pub fn traceparent(&self) -> [u8; Self::BYTES] {
        let mut text = *b"00-00000000000000000000000000000000-0000000000000000-00";
        put_hex(&self.trace_id.to_be_bytes(), &mut text[3..35]);
        put_hex(&self.span_id.to_be_bytes(), &mut text[36..52]);
        text[54] = b'0' + u8::from(self.is_sampled);
        text
    }
}

impl fmt::Display for TraceContext {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(std::str::from_utf8(&self.traceparent()).unwrap_or_default())
    }
}

#[inline]
fn put_hex(bytes: &[u8], out: &mut [u8]) {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    for (byte, place) in bytes.iter().zip(out.chunks_exact_mut(2)) {
        place[0] = DIGITS[usize::from(byte >> 4)];
        place[1] = DIGITS[usize::from(byte & 15)];
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn the_header_is_that_of_the_standard() {
        let context = TraceContext {
            trace_id: 0x0af7_6519_16cd_43dd_8448_eb21_1c80_319c,
            span_id: 0xb7ad_6b71_6920_3331,
            is_sampled: true,
        };
        let text = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
        assert_eq!(context.to_string(), text);
        assert_eq!(TraceContext { is_sampled: false, ..context }.to_string(), text[..54].to_owned() + "0");
    }

    #[test]
    fn ids_are_functions_of_seed_and_number_and_differ() {
        let tracing = Tracing::new(7, 0.01);
        assert_eq!(tracing.context(3), Tracing::new(7, 0.01).context(3));
        let ids: BTreeSet<_> = (0..10_000).map(|n| tracing.context(n).trace_id).collect();
        let spans: BTreeSet<_> = (0..10_000).map(|n| tracing.context(n).span_id).collect();
        assert_eq!((ids.len(), spans.len()), (10_000, 10_000));
        assert!((0..10_000).all(|n| !ids.contains(&Tracing::new(8, 0.01).context(n).trace_id)));
        // What a file says must be found again by every later release.
        assert_eq!(tracing.context(3).to_string(), "00-d97ca169454e479aceb0d72762b5337c-51114552f08a4704-00");
    }

    #[test]
    fn the_flag_has_its_share_and_changes_no_id() {
        let count = |share| (0..100_000).filter(|n| Tracing::new(1, share).is_sampled(*n)).count();
        // Six standard deviations of a binomial count.
        assert!(count(0.01).abs_diff(1_000) < 190, "{}", count(0.01));
        assert_eq!((count(0.0), count(1.0)), (0, 100_000));
        let (few, all) = (Tracing::new(1, 0.01).context(5), Tracing::new(1, 1.0).context(5));
        assert_eq!((few.trace_id, few.span_id), (all.trace_id, all.span_id));
    }
}
