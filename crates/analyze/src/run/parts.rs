//! What the mean response time of a cell is made of: means add up where percentiles do not.
//!
//! Every part is weighed by how many requests have it, over all answered requests of the valid trials. What a request waited
//! before it was written, less the generator's lateness and the writing itself, is the wait for a connection; over HTTP/2
//! the waits for a stream and for a window are known apart and taken out of it (METHOD §1).
//! Invariant: no part is below 0, and together they are the mean response time as far as the histograms' steps allow.

use super::data::RunData;
use schema::analysis::{ResponsePart, TimePart};
use schema::load::{Latencies, LatencySummary};
use schema::plan::CellPlan;

/// Parts below a nanosecond are none.
const LEAST_NS: f64 = 1.0;

/// In the order of a request's life; empty without an answered request.
pub(super) fn parts(data: &RunData<'_>, cell: &CellPlan) -> Vec<TimePart> {
    let loads = data.valid(&cell.id).filter_map(|trial| trial.file.load.as_ref());
    of(&loads.map(|load| &load.latency_ns).collect::<Vec<_>>())
}

fn of(trials: &[&Latencies]) -> Vec<TimePart> {
    let answered: f64 = trials.iter().map(|times| times.response.count as f64).sum();
    if answered == 0.0 {
        return Vec::new();
    }
    let mean = |time: fn(&Latencies) -> &LatencySummary| {
        let sum_ns = |times: &&Latencies| time(times).mean.unwrap_or(0.0) * time(times).count as f64;
        trials.iter().map(sum_ns).sum::<f64>() / answered
    };
    let (pacer, write) = (mean(|times| &times.pacer_lag), mean(|times| &times.write));
    let (stream, window) = (mean(|times| &times.wait_stream), mean(|times| &times.wait_window));
    let before = mean(|times| &times.send_lag);
    let means = [
        (ResponsePart::PacerLag, pacer),
        (ResponsePart::WaitConnection, before - pacer - write - stream - window),
        (ResponsePart::WaitStream, stream),
        (ResponsePart::WaitWindow, window),
        (ResponsePart::Write, write),
        (ResponsePart::FirstByte, mean(|times| &times.first_byte)),
        (ResponsePart::Transfer, mean(|times| &times.transfer)),
    ];
    let mut to_ns = 0.0;
    let place = |(part, mean_ns)| {
        let from_ns = to_ns;
        to_ns += mean_ns;
        TimePart { part, mean_ns, from_ns, to_ns }
    };
    let is_part = |(_, mean_ns): &(ResponsePart, f64)| mean_ns.is_finite() && *mean_ns >= LEAST_NS;
    means.into_iter().filter(is_part).map(place).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn summary(count: u64, mean: f64) -> LatencySummary {
        LatencySummary { count, mean: Some(mean), ..LatencySummary::default() }
    }

    fn parts_of(trials: &[Latencies]) -> Vec<(ResponsePart, f64)> {
        let parts = of(&trials.iter().collect::<Vec<_>>());
        parts.into_iter().map(|part| (part.part, part.mean_ns)).collect()
    }

    #[test]
    fn the_parts_add_up_to_the_mean_response_time() {
        let times = Latencies {
            response: summary(100, 10_000.0),
            send_lag: summary(100, 4_000.0),
            pacer_lag: summary(100, 500.0),
            // Half of the requests waited for a stream, and a tenth for a window.
            wait_stream: summary(50, 4_000.0),
            wait_window: summary(10, 3_000.0),
            write: summary(100, 200.0),
            first_byte: summary(100, 5_000.0),
            transfer: summary(100, 1_000.0),
            ..Latencies::default()
        };
        let last = *of(&[&times]).last().unwrap();
        assert_eq!((last.from_ns, last.to_ns), (9_000.0, 10_000.0));
        let found = parts_of(&[times]);
        assert_eq!(
            found,
            [
                (ResponsePart::PacerLag, 500.0),
                (ResponsePart::WaitConnection, 1_000.0),
                (ResponsePart::WaitStream, 2_000.0),
                (ResponsePart::WaitWindow, 300.0),
                (ResponsePart::Write, 200.0),
                (ResponsePart::FirstByte, 5_000.0),
                (ResponsePart::Transfer, 1_000.0),
            ]
        );
    }

    #[test]
    fn trials_weigh_by_their_requests_and_what_takes_no_time_is_left_out() {
        let trial = |count, first_byte| Latencies {
            response: summary(count, first_byte),
            first_byte: summary(count, first_byte),
            ..Latencies::default()
        };
        assert_eq!(
            parts_of(&[trial(300, 1_000.0), trial(100, 5_000.0)]),
            [(ResponsePart::FirstByte, 2_000.0)]
        );
        assert_eq!(parts_of(&[Latencies::default()]), []);
        assert_eq!(parts_of(&[]), []);
    }
}
