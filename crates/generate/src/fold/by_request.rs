//! The lines by request of an interval.
//!
//! The workers keep a store of times for each request of an interval in any case, for the totals: this reads what they
//! handed over, on the controller's thread, and adds nothing to what a worker does.
//!
//! Invariants: counts over all lines are those of the interval; there are at most [`IntervalLine::REQUESTS_MAX`] lines,
//! the last of more requests than that holds the rest together, from their histograms and not from their percentiles.

use engine::{EntryData, LazyHistogram, give_way};
use hdrhistogram::Histogram;
use schema::plan::EntryPlan;
use schema::trial::{IntervalLine, RequestInterval};

/// The lines, in the scenario's order.
pub(super) fn lines(entries: &[EntryData], requests: &[EntryPlan]) -> Vec<RequestInterval> {
    let named: Vec<_> = requests.iter().zip(entries).collect();
    let own = match named.len() <= IntervalLine::REQUESTS_MAX {
        true => named.len(),
        false => IntervalLine::REQUESTS_MAX - 1,
    };
    let (own, rest) = named.split_at(own);
    let alone = own.iter().map(|(plan, data)| {
        let counts = (data.answers, data.failures);
        line(Some(plan.name.clone()), counts, &data.response)
    });
    let mut lines: Vec<RequestInterval> = alone.collect();
    if !rest.is_empty() {
        lines.push(together(rest.iter().map(|(_, data)| *data)));
    }
    lines
}

fn together<'a>(entries: impl Iterator<Item = &'a EntryData>) -> RequestInterval {
    let (mut counts, mut response) = ((0, 0), LazyHistogram::default());
    for entry in entries {
        counts = (counts.0 + entry.answers, counts.1 + entry.failures);
        if !entry.response.is_empty() {
            response.add(&*entry.response).expect("all time histograms have the same bounds");
            give_way();
        }
    }
    line(None, counts, &response)
}

fn line(name: Option<String>, (completed, failed): (u64, u64), response: &Histogram<u64>) -> RequestInterval {
    let at = |quantile: f64| (!response.is_empty()).then(|| response.value_at_quantile(quantile));
    let line = RequestInterval {
        name,
        completed,
        failed,
        p50_ns: at(0.5),
        p99_ns: at(0.99),
        max_ns: (!response.is_empty()).then(|| response.max()),
    };
    give_way();
    line
}

#[cfg(test)]
mod tests {
    use super::*;
    use schema::plan::RequestPlan;

    /// Requests whose times are 1 ms to 100 ms, those of request n plus n seconds.
    fn made(count: usize) -> (Vec<EntryData>, Vec<EntryPlan>) {
        let entry = |n: usize| {
            let mut data: EntryData = EntryData::default();
            for ms in 1..=100_u64 {
                data.response.record((n as u64 * 1_000 + ms) * 1_000_000).unwrap();
            }
            (data.answers, data.failures) = (100 + n as u64, 3);
            data
        };
        let plan = |n: usize| EntryPlan {
            name: format!("r{n}"),
            request: RequestPlan::default(),
            ..EntryPlan::default()
        };
        ((0..count).map(entry).collect(), (0..count).map(plan).collect())
    }

    /// A value at 3 significant digits.
    fn is_about(found: Option<u64>, ms: u64) -> bool {
        found.is_some_and(|ns| (ns as f64 / (ms * 1_000_000) as f64 - 1.0).abs() < 1e-3)
    }

    #[test]
    fn each_request_has_its_line_and_a_scenario_of_one_has_none() {
        let (entries, plans) = made(3);
        let found = lines(&entries, &plans);
        let named: Vec<_> =
            found.iter().map(|line| (line.name.as_deref(), line.completed, line.failed)).collect();
        assert_eq!(named, [(Some("r0"), 100, 3), (Some("r1"), 101, 3), (Some("r2"), 102, 3)]);
        assert!(is_about(found[1].p50_ns, 1_050) && is_about(found[1].p99_ns, 1_099), "{:?}", found[1]);
        assert!(is_about(found[1].max_ns, 1_100), "{:?}", found[1]);
        assert_eq!(lines(&[], &plans[..1]), []);
        let silent = lines(&[EntryData::default(), EntryData::default()], &plans);
        assert_eq!((silent[0].p50_ns, silent[0].p99_ns, silent[0].max_ns), (None, None, None));
    }

    #[test]
    fn many_requests_have_sixteen_lines_and_their_counts_are_whole() {
        for count in [16, 17, 100] {
            let (entries, plans) = made(count);
            let found = lines(&entries, &plans);
            assert_eq!(found.len(), IntervalLine::REQUESTS_MAX);
            let sum = |of: fn(&RequestInterval) -> u64| found.iter().map(of).sum::<u64>();
            let all: u64 = entries.iter().map(|entry| entry.answers).sum();
            assert_eq!((sum(|line| line.completed), sum(|line| line.failed)), (all, 3 * count as u64));
            let rest = &found[IntervalLine::REQUESTS_MAX - 1];
            assert_eq!(rest.name.is_none(), count > IntervalLine::REQUESTS_MAX, "{count}");
        }
        // The rest are requests 15 and 16 with 200 times together: the 198th of them is 98 ms after 16 s.
        let (entries, plans) = made(17);
        let rest = lines(&entries, &plans).pop().unwrap();
        assert!(is_about(rest.p50_ns, 15_100) && is_about(rest.p99_ns, 16_098), "{rest:?}");
    }
}
