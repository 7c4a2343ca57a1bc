//! The table of functions: own (flat) and cumulative values with their shares, and what moved between two profiles.

use crate::Folded;
use schema::profile::{MovedFunction, ProfileUnit, TopFunction};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

#[derive(Clone, Copy, Debug, Default)]
struct Sums {
    flat: u64,
    cumulative: u64,
}

/// The functions with the largest own value, at most `most`; a recursive function counts once in a stack.
#[must_use]
pub fn top(folded: &Folded, most: usize) -> Vec<TopFunction> {
    let total = folded.total();
    let share = |value: u64| if total == 0 { 0.0 } else { value as f64 / total as f64 };
    let mut all: Vec<(&str, Sums)> = sums(folded).into_iter().collect();
    // By name where values are equal, so that the table does not depend on chance.
    all.sort_by(|(a_name, a), (b_name, b)| {
        (b.flat, b.cumulative).cmp(&(a.flat, a.cumulative)).then(a_name.cmp(b_name))
    });
    let functions = all.into_iter().take(most).map(|(function, sums)| TopFunction {
        function: function.to_owned(),
        flat: sums.flat,
        flat_share: share(sums.flat),
        cumulative: sums.cumulative,
        cumulative_share: share(sums.cumulative),
    });
    functions.collect()
}

fn sums(folded: &Folded) -> BTreeMap<&str, Sums> {
    let mut sums: BTreeMap<&str, Sums> = BTreeMap::new();
    for (stack, value) in folded.stacks() {
        let mut seen = BTreeSet::new();
        for frame in stack.split(';').filter(|frame| seen.insert(*frame)) {
            let entry = sums.entry(frame).or_default();
            entry.cumulative = entry.cumulative.saturating_add(value);
        }
        if let Some(leaf) = stack.rsplit(';').next() {
            let entry = sums.entry(leaf).or_default();
            entry.flat = entry.flat.saturating_add(value);
        }
    }
    sums
}

/// The table as text, with the head that says what is counted.
#[must_use]
pub fn table(title: &str, unit: ProfileUnit, total: u64, functions: &[TopFunction]) -> String {
    let title = crate::folded::clean(title);
    let mut text = format!("{title}\ntotal {} ({})\n\n", value_words(total, unit), unit.words());
    let _ = writeln!(text, "{:>12} {:>7} {:>12} {:>7}  function", "flat", "flat %", "cum", "cum %");
    for one in functions {
        let _ = writeln!(
            text,
            "{:>12} {:>6.2}% {:>12} {:>6.2}%  {}",
            value_words(one.flat, unit),
            one.flat_share * 100.0,
            value_words(one.cumulative, unit),
            one.cumulative_share * 100.0,
            one.function
        );
    }
    text
}

/// A value with a unit that people read.
fn value_words(value: u64, unit: ProfileUnit) -> String {
    let scaled = |steps: &[(f64, &str)]| {
        let step = steps.iter().find(|(size, _)| value as f64 >= *size);
        step.map_or_else(|| value.to_string(), |(size, name)| format!("{:.2} {name}", value as f64 / size))
    };
    match unit {
        ProfileUnit::CpuNs | ProfileUnit::ElapsedNs | ProfileUnit::BlockedNs => {
            scaled(&[(1e9, "s"), (1e6, "ms"), (1e3, "us"), (1.0, "ns")])
        }
        ProfileUnit::Bytes => {
            scaled(&[(1_073_741_824.0, "GiB"), (1_048_576.0, "MiB"), (1024.0, "KiB"), (1.0, "B")])
        }
        ProfileUnit::Objects | ProfileUnit::Samples | ProfileUnit::Goroutines => value.to_string(),
    }
}

/// The functions whose own share differs most between two profiles, at most `most`.
#[must_use]
pub fn moved(base: &Folded, other: &Folded, most: usize) -> Vec<MovedFunction> {
    let flat = |folded: &Folded| -> BTreeMap<String, f64> {
        let functions = top(folded, usize::MAX).into_iter();
        functions.map(|one| (one.function, one.flat_share)).collect()
    };
    let (base, other) = (flat(base), flat(other));
    let names: BTreeSet<&String> = base.keys().chain(other.keys()).collect();
    let share = |of: &BTreeMap<String, f64>, name: &String| of.get(name).copied().unwrap_or_default();
    let mut all: Vec<MovedFunction> = names
        .into_iter()
        .map(|name| MovedFunction {
            function: name.clone(),
            base_share: share(&base, name),
            share: share(&other, name),
        })
        .filter(|one| one.share != one.base_share)
        .collect();
    let distance = |one: &MovedFunction| (one.share - one.base_share).abs();
    all.sort_by(|a, b| distance(b).total_cmp(&distance(a)).then(a.function.cmp(&b.function)));
    all.truncate(most);
    all
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::folded::folded;

    #[test]
    fn recursion_counts_once_and_shares_are_of_the_total() {
        let all = top(&folded(&[("a;b;a", 30), ("a;c", 10)]), 10);
        let got: Vec<(&str, u64, u64)> =
            all.iter().map(|one| (one.function.as_str(), one.flat, one.cumulative)).collect();
        assert_eq!(got, [("a", 30, 40), ("c", 10, 10), ("b", 0, 30)]);
        assert_eq!((all[0].flat_share, all[0].cumulative_share), (0.75, 1.0));
        assert_eq!(top(&folded(&[]), 10), []);
        let text = table("cpu of x\n", ProfileUnit::CpuNs, 40, &all);
        assert!(text.starts_with("cpu of x\ntotal 40.00 ns (ns of CPU time)\n"), "{text}");
        assert!(text.contains("    30.00 ns  75.00%     40.00 ns 100.00%  a\n"), "{text}");
    }

    #[test]
    fn shares_are_compared_and_not_values() {
        let all = moved(&folded(&[("a", 1), ("b", 1)]), &folded(&[("a", 300), ("c", 100)]), 2);
        let got: Vec<(&str, f64, f64)> =
            all.iter().map(|one| (one.function.as_str(), one.base_share, one.share)).collect();
        assert_eq!(got, [("b", 0.5, 0.0), ("a", 0.5, 0.75)]);
        assert_eq!(moved(&folded(&[("a", 1)]), &folded(&[("a", 9)]), 2), []);
    }
}
