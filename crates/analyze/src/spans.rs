//! The spans of a trace laid against the response time of its request.
//!
//! Invariants: whatever a target says of its spans (parents that are missing or in a circle, ends before begins, clocks that
//! are hours off), every span is listed once and no time is negative. Only lengths are compared between hosts, never moments.
//! Absent on purpose: reading spans (crate record).

use schema::spans::{RequestSpans, SpanTime};
use schema::traced::NotableRequest;
use std::collections::{HashMap, HashSet};

/// A span as its service reported it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TargetSpan {
    /// Its id.
    pub id: u64,
    /// That of the span that it lies in; 0 for none.
    pub parent: u64,
    /// What it says that it is.
    pub name: String,
    /// The service.
    pub service: String,
    /// Begin on its host's wall clock, in nanoseconds since 1970.
    pub start_ns: u64,
    /// End on the same clock.
    pub end_ns: u64,
}

impl TargetSpan {
    const fn length_ns(&self) -> u64 {
        self.end_ns.saturating_sub(self.start_ns)
    }
}

/// Where the time of a request of this trial and cell went. `spans` are those of its trace, the request's own left out.
#[must_use]
pub fn where_time_went(
    (trial, cell): (u32, &str),
    request: &NotableRequest,
    spans: &[TargetSpan],
) -> RequestSpans {
    let tree = Tree::new(spans);
    let covered: Vec<&TargetSpan> = tree.roots.iter().map(|root| &spans[*root]).collect();
    let listed = tree.in_order(spans);
    let time = |(place, depth): (usize, u32)| {
        let span = &spans[place];
        let within: Vec<&TargetSpan> = tree.within(span.id).map(|child| &spans[child]).collect();
        let self_ns =
            span.length_ns() - union_ns(&within, (span.start_ns, span.end_ns)).min(span.length_ns());
        SpanTime {
            name: span.name.clone(),
            service: span.service.clone(),
            depth,
            duration_ns: span.length_ns(),
            self_ns,
            self_share: self_ns as f64 / request.response_ns.max(1) as f64,
        }
    };
    RequestSpans {
        trial,
        cell: cell.to_owned(),
        request: request.clone(),
        outside_ns: request.response_ns.saturating_sub(union_ns(&covered, (0, u64::MAX))),
        spans: listed.into_iter().map(time).collect(),
        spans_left_out: 0,
    }
}

/// Which span lies in which.
struct Tree {
    roots: Vec<usize>,
    children: HashMap<u64, Vec<usize>>,
}

impl Tree {
    fn new(spans: &[TargetSpan]) -> Self {
        let ids: HashSet<u64> = spans.iter().map(|span| span.id).collect();
        let mut children: HashMap<u64, Vec<usize>> = HashMap::new();
        let mut roots = Vec::new();
        for (place, span) in spans.iter().enumerate() {
            match ids.contains(&span.parent) && span.parent != span.id {
                true => children.entry(span.parent).or_default().push(place),
                false => roots.push(place),
            }
        }
        let by_begin = |list: &mut Vec<usize>| list.sort_by_key(|place| (spans[*place].start_ns, *place));
        by_begin(&mut roots);
        children.values_mut().for_each(by_begin);
        Self { roots, children }
    }

    fn within(&self, id: u64) -> impl Iterator<Item = usize> {
        self.children.get(&id).into_iter().flatten().copied()
    }

    /// Places with depths, each span before those within it. What only circles lead to comes last.
    fn in_order(&self, spans: &[TargetSpan]) -> Vec<(usize, u32)> {
        let mut seen = vec![false; spans.len()];
        let mut listed = Vec::new();
        for root in self.roots.iter().copied().chain(0..spans.len()) {
            let mut open = vec![(root, 0)];
            while let Some((place, depth)) = open.pop() {
                if std::mem::replace(&mut seen[place], true) {
                    continue;
                }
                listed.push((place, depth));
                let within: Vec<usize> = self.within(spans[place].id).collect();
                open.extend(within.into_iter().rev().map(|child| (child, depth + 1)));
            }
        }
        listed
    }
}

/// The time between two moments in which at least one of the spans lasted.
fn union_ns(spans: &[&TargetSpan], (from, to): (u64, u64)) -> u64 {
    let mut parts: Vec<(u64, u64)> =
        spans.iter().map(|span| (span.start_ns.clamp(from, to.max(from)), span.end_ns.min(to))).collect();
    parts.sort_unstable();
    let mut reached = 0;
    let mut sum = 0;
    for (start, end) in parts {
        let start = start.max(reached);
        if end > start {
            sum += end - start;
            reached = end;
        }
    }
    sum
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn span(id: u64, parent: u64, start_ns: u64, end_ns: u64) -> TargetSpan {
        TargetSpan { id, parent, name: format!("s{id}"), service: "shop".into(), start_ns, end_ns }
    }

    fn went(spans: &[TargetSpan]) -> RequestSpans {
        let request = NotableRequest { response_ns: 1_000, ..NotableRequest::default() };
        where_time_went((1, "c1"), &request, spans)
    }

    fn rows(of: &RequestSpans) -> Vec<(&str, u32, u64, u64)> {
        of.spans.iter().map(|one| (one.name.as_str(), one.depth, one.duration_ns, one.self_ns)).collect()
    }

    #[test]
    fn self_time_is_what_no_span_within_covers() {
        // Two queries overlap, a third runs beyond the end of its parent.
        let spans = [
            span(3, 1, 5_500, 5_700),
            span(1, 99, 5_000, 5_800),
            span(2, 1, 5_100, 5_600),
            span(4, 1, 5_750, 9_000),
        ];
        let of = went(&spans);
        assert_eq!(
            rows(&of),
            [("s1", 0, 800, 150), ("s2", 1, 500, 500), ("s3", 1, 200, 200), ("s4", 1, 3250, 3250)]
        );
        assert_eq!((of.outside_ns, of.spans[0].self_share), (200, 0.15));
    }

    #[test]
    fn circles_and_ends_before_begins_lose_no_span() {
        let of = went(&[span(1, 2, 10, 5), span(2, 1, 0, 7), span(3, 3, 1, 4)]);
        let mut names: Vec<&str> = of.spans.iter().map(|one| one.name.as_str()).collect();
        names.sort_unstable();
        assert_eq!(names, ["s1", "s2", "s3"]);
    }

    proptest! {
        #[test]
        fn no_span_is_lost_and_no_time_is_longer_than_its_span(
            of in proptest::collection::vec((0_u64..12, 0_u64..12, any::<u64>(), any::<u64>()), 0..40),
        ) {
            let spans: Vec<_> = of.iter().map(|(id, parent, start, end)| span(*id, *parent, *start, *end)).collect();
            let went = went(&spans);
            prop_assert_eq!(went.spans.len(), spans.len());
            prop_assert!(went.outside_ns <= 1_000);
            prop_assert!(went.spans.iter().all(|one| one.self_ns <= one.duration_ns));
        }
    }
}
