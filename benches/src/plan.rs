//! The order of runs: repeats, in each repeat all cases, in each case all peers in an order drawn from the seed.
//!
//! The peers of one case run one after the other, so that what drifts slowly meets them alike and the ratio within
//! a repeat is free of it; the drawn order keeps any one peer from always being first.

use crate::case::{Case, Job};
use crate::peer::Peer;
use units::Seed;

/// One run to be made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Step {
    /// Number of the repeat, from 0.
    pub(crate) repeat: u32,
    /// The load.
    pub(crate) case: Case,
    /// Index of the program.
    pub(crate) program: usize,
}

/// Time between two runs: start, end, questions to the server.
const BETWEEN_S: f64 = 0.35;
/// The whole benchmark should take no longer than this.
const WHOLE_S_MAX: f64 = 22.0 * 60.0;

/// Whether a peer takes part in a case.
pub(crate) fn takes_part(peer: &Peer, case: &Case, seconds: u64) -> bool {
    let job = Job { url: "http://127.0.0.1:1/", case: *case, seconds };
    let speaks = peer.http2 || case.streams.is_none();
    speaks
        && (peer.is_core(case) || !case.core_only)
        && peer.does(case.work)
        && (peer.arguments)(&job).is_some()
}

/// All runs in their order: `repeats` of the peers that a target speaks of, `other_repeats` of the others.
pub(crate) fn steps(
    (repeats, other_repeats): (u32, u32),
    cases: &[Case],
    peers: &[&Peer],
    seed: Seed,
) -> Vec<Step> {
    let mut rng = seed.derive("bench.order", 0).rng();
    let mut steps = Vec::new();
    for repeat in 0..repeats.max(other_repeats) {
        for case in cases {
            let is_on = |peer: &Peer| {
                let most = if peer.is_core(case) { repeats } else { other_repeats };
                repeat < most && takes_part(peer, case, 1)
            };
            let mut order: Vec<usize> = (0..peers.len()).filter(|index| is_on(peers[*index])).collect();
            rng.shuffle(&mut order);
            steps.extend(order.into_iter().map(|program| Step { repeat, case: *case, program }));
        }
    }
    steps
}

/// How long that many runs take.
pub(crate) fn duration_s(runs: usize, seconds: u64) -> f64 {
    runs as f64 * (seconds as f64 + BETWEEN_S)
}

/// Repeats of the other peers with which the whole ends in time: as many as of the first, or fewer, but one.
pub(crate) fn other_repeats(repeats: u32, cases: &[Case], peers: &[&Peer], seconds: u64) -> u32 {
    let fits = |other: &u32| {
        let runs = steps((repeats, *other), cases, peers, Seed(0)).len();
        duration_s(runs, seconds) <= WHOLE_S_MAX
    };
    (1..=repeats).rev().find(fits).unwrap_or(1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::case::{ALL, find};
    use crate::peer::PEERS;

    fn named(names: &[&str]) -> Vec<&'static Peer> {
        PEERS.into_iter().filter(|peer| names.contains(&peer.name)).collect()
    }

    #[test]
    fn every_repeat_has_each_peer_once_a_case_in_a_drawn_order() {
        let cases: Vec<Case> = ["closed-16", "closed-512"].into_iter().flat_map(find).collect();
        let peers = named(&["prony", "wrk", "hey"]);
        let all = steps((20, 20), &cases, &peers, Seed(1));
        assert_eq!(all, steps((20, 20), &cases, &peers, Seed(1)));
        assert_ne!(all, steps((20, 20), &cases, &peers, Seed(2)));
        let mut firsts = std::collections::BTreeSet::new();
        for (index, group) in all.chunks(3).enumerate() {
            let mut programs: Vec<usize> = group.iter().map(|step| step.program).collect();
            firsts.insert(programs[0]);
            programs.sort_unstable();
            assert_eq!(programs, [0, 1, 2]);
            let repeat = u32::try_from(index / 2).unwrap();
            assert!(group.iter().all(|step| step.case == cases[index % 2] && step.repeat == repeat));
        }
        assert_eq!(firsts.len(), 3);
    }

    #[test]
    fn peers_run_only_what_they_can_and_others_less_often() {
        let peers = named(&["prony", "wrk", "hey"]);
        let runs = |case: &str, name: &str| {
            let index = peers.iter().position(|peer| peer.name == name).unwrap();
            let all = steps((5, 2), &find(case), &peers, Seed(1));
            all.iter().filter(|step| step.program == index).count()
        };
        assert_eq!((runs("rate-1k", "prony"), runs("rate-1k", "wrk"), runs("rate-1k", "hey")), (5, 0, 2));
        assert_eq!((runs("closed-1", "wrk"), runs("closed-1", "hey")), (5, 0));
        assert_eq!((runs("h2-1x10", "prony"), runs("h2-1x10", "wrk")), (5, 0));
    }

    #[test]
    fn the_default_ends_in_time_even_with_every_peer() {
        let present = named(&["prony", "limit", "pingpong", "wrk", "h2load", "hey", "ab", "oha", "fortio"]);
        for (peers, fewest) in [(&present[..], 3), (&PEERS[..], 1)] {
            let other = other_repeats(5, &ALL, peers, 3);
            assert!(other >= fewest, "{other}");
            let runs = steps((5, other), &ALL, peers, Seed(1)).len();
            assert!(duration_s(runs, 3) < 26.0 * 60.0, "{runs} runs");
        }
        assert_eq!(other_repeats(5, &find("closed-64"), &PEERS, 3), 5);
        assert_eq!(other_repeats(5, &ALL, &PEERS, 3_600), 1);
    }
}
