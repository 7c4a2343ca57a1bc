//! The slowest requests and the first failures of a cell, from the lists of its valid trials.
//!
//! Invariants: the lists are those that one trial with all requests would have, because each trial has the first of its own
//! and the order is total (time, trial, number; failures by trial, then as they failed); a request is listed once; every list
//! is bounded. Absent on purpose: spans, which only a run folder has (crate record).

use super::data::RunData;
use schema::plan::CellPlan;
use schema::traced::{CellNotable, NotableRequest, NotableRequests, TrialRequest};
use std::cmp::Reverse;

const NOTABLE_MAX: usize = NotableRequests::MAX;

/// Over the valid trials of a cell.
pub(super) fn of_cell(data: &RunData<'_>, cell: &CellPlan) -> CellNotable {
    let trials = data.valid(&cell.id).filter_map(|trial| Some((trial.file.id, trial.file.load.as_ref()?)));
    merged(&trials.map(|(id, load)| (id, &load.notable)).collect::<Vec<_>>())
}

/// The lists of trials as those of one.
fn merged(trials: &[(u32, &NotableRequests)]) -> CellNotable {
    let slowest = first(trials, |of| &of.slowest, by_response);
    let failures = first(trials, |of| &of.failures, by_trial);
    let further = |mut sampled: Vec<TrialRequest>, listed: &[TrialRequest]| {
        sampled.retain(|one| !listed.contains(one));
        sampled
    };
    CellNotable {
        slowest_sampled: further(first(trials, |of| &of.slowest_sampled, by_response), &slowest),
        failures_sampled: further(first(trials, |of| &of.failures_sampled, by_trial), &failures),
        slowest,
        failures,
    }
}

/// A place in the order of a list, the first first.
type Rank = (Reverse<u64>, u32, u64);

fn by_response(of: &TrialRequest) -> Rank {
    (Reverse(of.request.response_ns), of.trial, of.request.request)
}

/// Within a trial the order stays.
fn by_trial(of: &TrialRequest) -> Rank {
    (Reverse(0), of.trial, 0)
}

fn first(
    trials: &[(u32, &NotableRequests)],
    list: fn(&NotableRequests) -> &Vec<NotableRequest>,
    rank: fn(&TrialRequest) -> Rank,
) -> Vec<TrialRequest> {
    let of_trial = |(trial, of): &(u32, &NotableRequests)| {
        let trial = *trial;
        list(of).clone().into_iter().take(NOTABLE_MAX).map(move |request| TrialRequest { trial, request })
    };
    let mut all: Vec<TrialRequest> = trials.iter().flat_map(of_trial).collect();
    all.sort_by_key(rank);
    all.truncate(NOTABLE_MAX);
    all
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn request(number: u64, response_ns: u64) -> NotableRequest {
        NotableRequest { request: number, response_ns, ..NotableRequest::default() }
    }

    proptest! {
        #[test]
        fn the_slowest_of_all_trials_are_listed_in_whatever_order_trials_come(
            // Few distinct times, so that trial and number must decide.
            times in proptest::collection::vec(proptest::collection::vec(1_u64..9, 0..30), 1..6),
        ) {
            let mut all = Vec::new();
            let mut lists = Vec::new();
            for (trial, times) in (1_u32..).zip(&times) {
                let mut own: Vec<_> = (0..).zip(times).map(|(number, ns)| request(number, *ns)).collect();
                own.sort_by_key(|one| (Reverse(one.response_ns), one.request));
                all.extend(own.iter().map(|one| TrialRequest { trial, request: one.clone() }));
                own.truncate(NOTABLE_MAX);
                let failures = (0..times.len() as u64).take(NOTABLE_MAX).map(|number| request(99 - number, 1));
                let failures = failures.collect();
                lists.push((trial, NotableRequests { slowest: own, failures, ..NotableRequests::default() }));
            }
            all.sort_by_key(by_response);
            all.truncate(NOTABLE_MAX);
            let forth: Vec<_> = lists.iter().map(|(trial, of)| (*trial, of)).collect();
            let back: Vec<_> = forth.iter().rev().copied().collect();
            let found = merged(&forth);
            prop_assert_eq!(&found, &merged(&back));
            prop_assert_eq!(&found.slowest, &all);
            let order = |one: &TrialRequest| (one.trial, 99 - one.request.request);
            prop_assert!(found.failures.is_sorted_by_key(order) && found.failures.len() <= NOTABLE_MAX);
        }
    }

    #[test]
    fn a_sampled_request_among_the_slowest_is_listed_once() {
        let of = NotableRequests {
            slowest: vec![request(1, 9), request(2, 8)],
            slowest_sampled: vec![request(2, 8), request(3, 1)],
            ..NotableRequests::default()
        };
        let found = merged(&[(1, &of)]);
        let numbers: Vec<u64> = found.all().map(|one| one.request.request).collect();
        assert_eq!(numbers, [1, 2, 3]);
        assert!(CellNotable::default().is_empty() && !found.is_empty());
    }
}
