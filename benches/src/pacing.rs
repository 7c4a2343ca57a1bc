//! How evenly requests arrived, from the server's own stamps. Pure arithmetic.
//!
//! The error of an arrival is the distance of the gap before it from the ideal gap, 1/rate. It needs no common time
//! zero of generator and server, and a late request shows twice: its gap is too long and the next too short.

/// Arrivals this soon after the first are left out: connections and caches are cold.
const HEAD_NS: u64 = 500_000_000;
/// Arrivals this shortly before the last are left out: generators end in their own ways.
const TAIL_NS: u64 = 100_000_000;
/// Fewer gaps than this say nothing of a p99.
const GAPS_MIN: usize = 300;

/// What the stamps of one run say.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Pacing {
    /// Requests a second as they arrived.
    pub(crate) arrivals_per_s: f64,
    /// Median of |gap − ideal|.
    pub(crate) gap_error_p50_ns: u64,
    /// 99th percentile of |gap − ideal|.
    pub(crate) gap_error_p99_ns: u64,
    /// Median time from reading a request to writing its answer.
    pub(crate) residence_p50_ns: u64,
}

/// Reads what bench-server's `/-/stamps/end` sends; why not, in words.
pub(crate) fn read(bytes: &[u8], rate_per_s: u32) -> Result<Pacing, String> {
    let number = |at: &[u8]| at.try_into().map(u64::from_le_bytes).unwrap_or(0);
    let (missed, pairs) = bytes.split_at_checked(8).ok_or("the server sent no stamps")?;
    match number(missed) {
        0 => {}
        missed => return Err(format!("the server had no room for {missed} stamps")),
    }
    let pairs: Vec<(u64, u64)> =
        pairs.chunks_exact(16).map(|pair| (number(&pair[..8]), number(&pair[8..]))).collect();
    of(&pairs, rate_per_s)
}

fn of(pairs: &[(u64, u64)], rate_per_s: u32) -> Result<Pacing, String> {
    let (Some(first), Some(last)) = (pairs.first(), pairs.last()) else {
        return Err("the server stamped no request".to_owned());
    };
    let (from_ns, to_ns) = (first.0 + HEAD_NS, last.0.saturating_sub(TAIL_NS));
    let kept: Vec<(u64, u64)> =
        pairs.iter().copied().filter(|(read_ns, _)| (from_ns..=to_ns).contains(read_ns)).collect();
    if kept.len() <= GAPS_MIN {
        return Err(format!("only {} requests were stamped between head and tail", kept.len()));
    }
    let ideal_ns = 1e9 / f64::from(rate_per_s);
    let error = |pair: &[(u64, u64)]| ((pair[1].0 - pair[0].0) as f64 - ideal_ns).abs().round() as u64;
    let mut errors_ns: Vec<u64> = kept.windows(2).map(error).collect();
    let mut residences_ns: Vec<u64> =
        kept.iter().map(|(read, written)| written.saturating_sub(*read)).collect();
    let span_ns = kept[kept.len() - 1].0 - kept[0].0;
    Ok(Pacing {
        arrivals_per_s: (kept.len() - 1) as f64 * 1e9 / span_ns.max(1) as f64,
        gap_error_p50_ns: quantile(&mut errors_ns, 0.5),
        gap_error_p99_ns: quantile(&mut errors_ns, 0.99),
        residence_p50_ns: quantile(&mut residences_ns, 0.5),
    })
}

/// The smallest value that at least the share `q` of all does not exceed.
fn quantile(values: &mut [u64], q: f64) -> u64 {
    values.sort_unstable();
    let rank = (q * values.len() as f64).ceil() as usize;
    values[rank.clamp(1, values.len()) - 1]
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Arrivals every 100 µs for a second, every tenth one late by `late_ns`; residence 700 ns.
    fn stamps(late_ns: u64) -> Vec<(u64, u64)> {
        (0..10_000_u64)
            .map(|n| {
                let at = 5_000_000_000 + n * 100_000 + if n % 10 == 9 { late_ns } else { 0 };
                (at, at + 700)
            })
            .collect()
    }

    #[test]
    fn a_late_request_shows_in_the_gaps_around_it_and_an_even_stream_has_no_error() {
        let even = of(&stamps(0), 10_000).unwrap();
        assert_eq!((even.gap_error_p50_ns, even.gap_error_p99_ns, even.residence_p50_ns), (0, 0, 700));
        assert!((even.arrivals_per_s - 10_000.0).abs() < 1e-6);
        let late = of(&stamps(3_000), 10_000).unwrap();
        assert_eq!((late.gap_error_p50_ns, late.gap_error_p99_ns), (0, 3_000));
        let wrong_rate = of(&stamps(0), 20_000).unwrap();
        assert_eq!(wrong_rate.gap_error_p50_ns, 50_000);
    }

    #[test]
    fn bytes_of_the_server_are_read_and_lost_stamps_are_no_evidence() {
        let bytes = |missed: u64| {
            let mut bytes = missed.to_le_bytes().to_vec();
            bytes.extend(stamps(0).iter().flat_map(|(a, b)| [a.to_le_bytes(), b.to_le_bytes()]).flatten());
            bytes
        };
        assert_eq!(read(&bytes(0), 10_000), of(&stamps(0), 10_000));
        assert!(read(&bytes(4), 10_000).unwrap_err().contains("4 stamps"));
        assert!(read(&[0; 8], 10_000).unwrap_err().contains("no request"));
        assert!(read(&[], 10_000).is_err());
        assert!(of(&stamps(0)[..200], 10_000).unwrap_err().contains("only"));
    }
}
