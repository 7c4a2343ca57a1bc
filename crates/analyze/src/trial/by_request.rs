//! Response times of each request of a scenario over one trial, for charts.
//!
//! Invariants: each curve has one value for each span of the chart; of intervals that a span joins the highest percentile
//! stays, because percentiles are never averaged and a peak must not be smoothed away; the number of curves is bounded,
//! whatever a file holds. Absent on purpose: totals, which are in the trial's own results.

use schema::page::RequestCurve;
use schema::trial::{IntervalLine, RequestInterval};

/// The curves, in the order in which the requests are first seen. `ends_ns` are the ends of the chart's spans, growing;
/// lines after the last of them are left out.
#[must_use]
pub fn request_curves(intervals: &[IntervalLine], ends_ns: &[u64]) -> Vec<RequestCurve> {
    let mut curves: Vec<RequestCurve> = Vec::new();
    for line in intervals {
        let span = ends_ns.partition_point(|end| *end < line.end_ns);
        if span == ends_ns.len() {
            continue;
        }
        for request in line.by_request.iter().take(IntervalLine::REQUESTS_MAX) {
            if let Some(curve) = curve_of(&mut curves, request, ends_ns.len()) {
                curve.completed[span] = curve.completed[span].saturating_add(request.completed);
                curve.p50_ns[span] = curve.p50_ns[span].max(request.p50_ns);
                curve.p99_ns[span] = curve.p99_ns[span].max(request.p99_ns);
            }
        }
    }
    curves
}

/// The curve of a request, made where there is none yet and few enough are there.
fn curve_of<'a>(
    curves: &'a mut Vec<RequestCurve>,
    request: &RequestInterval,
    spans: usize,
) -> Option<&'a mut RequestCurve> {
    let place = curves.iter().position(|curve| curve.name == request.name);
    let place = match place {
        Some(place) => place,
        None if curves.len() < IntervalLine::REQUESTS_MAX => {
            curves.push(RequestCurve {
                name: request.name.clone(),
                completed: vec![0; spans],
                p50_ns: vec![None; spans],
                p99_ns: vec![None; spans],
            });
            curves.len() - 1
        }
        None => return None,
    };
    curves.get_mut(place)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn request(name: &str, p99_ns: Option<u64>) -> RequestInterval {
        RequestInterval {
            name: Some(name.to_owned()),
            completed: 2,
            p50_ns: p99_ns.map(|ns| ns / 2),
            p99_ns,
            ..RequestInterval::default()
        }
    }

    fn line(second: u64, by_request: Vec<RequestInterval>) -> IntervalLine {
        IntervalLine { start_ns: second, end_ns: second + 1, by_request, ..IntervalLine::default() }
    }

    #[test]
    fn each_request_has_a_value_at_each_time_and_joined_ones_keep_the_highest() {
        let lines = [
            line(0, vec![request("a", Some(10)), request("b", None)]),
            line(1, vec![request("a", Some(40)), request("b", Some(6))]),
            line(2, vec![request("a", Some(20)), request("b", Some(8))]),
        ];
        let whole = request_curves(&lines, &[1, 2, 3]);
        assert_eq!(whole[0].p99_ns, [Some(10), Some(40), Some(20)]);
        assert_eq!(whole[1].p50_ns, [None, Some(3), Some(4)]);
        let joined = request_curves(&lines, &[2, 3]);
        assert_eq!((&*joined[0].p99_ns, &*joined[0].completed), (&[Some(40), Some(20)][..], &[4, 2][..]));
        assert_eq!(joined[1].name.as_deref(), Some("b"));
        assert_eq!(request_curves(&lines, &[]), []);
    }

    #[test]
    fn a_file_cannot_ask_for_more_curves_than_a_scenario_has_lines() {
        let lines: Vec<IntervalLine> =
            (0..100).map(|n| line(n, vec![request(&format!("r{n}"), Some(n))])).collect();
        let ends: Vec<u64> = (1..=100).collect();
        assert_eq!(request_curves(&lines, &ends).len(), IntervalLine::REQUESTS_MAX);
    }
}
