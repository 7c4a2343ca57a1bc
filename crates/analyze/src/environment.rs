//! In what two environments differ, and which differences a comparison of the two would measure as well.
//!
//! A fact that holds for the whole host and moves every number (CPU, governor, kernel, speed of fixed work) decides; one
//! that only some loads feel decides where it is a warning on one side only. What is but a state of the moment is
//! compared by its severity, never by its text.
//! Absent on purpose: how much a difference moves the numbers, which only an experiment can tell.

use schema::doctor::{Bearing, DoctorReport, Fact, Severity};
use schema::environment::{Difference, EnvironmentDiff, VersionDifference, Weight};
use std::cmp::Reverse;
use std::collections::BTreeMap;

/// One of two environments to compare.
#[derive(Clone, Copy, Debug)]
pub struct Surroundings<'a> {
    /// The name of a run, or `this host now`.
    pub name: &'a str,
    /// The host as it was found.
    pub host: &'a DoctorReport,
    /// Versions of what took part.
    pub versions: &'a BTreeMap<String, String>,
}

/// Compares fact by fact; what matters most comes first, then the worse severity, then the order of the first's facts.
#[must_use]
pub fn environment_diff(a: Surroundings<'_>, b: Surroundings<'_>) -> EnvironmentDiff {
    let find = |facts: &'_ [Fact], id: &str| facts.iter().position(|fact| fact.id == id);
    let (facts_a, facts_b) = (&a.host.facts, &b.host.facts);
    let mut pairs: Vec<(Option<&Fact>, Option<&Fact>)> =
        facts_a.iter().map(|fact| (Some(fact), find(facts_b, &fact.id).map(|at| &facts_b[at]))).collect();
    pairs.extend(
        facts_b.iter().filter(|fact| find(facts_a, &fact.id).is_none()).map(|fact| (None, Some(fact))),
    );
    let all = pairs.len();
    let mut differences: Vec<Difference> = pairs.into_iter().filter_map(|(a, b)| difference(a, b)).collect();
    let same = u32::try_from(all - differences.len()).unwrap_or(u32::MAX);
    differences.sort_by_key(|found| Reverse((found.weight, found.severity)));
    EnvironmentDiff {
        schema: Default::default(),
        a: a.name.into(),
        b: b.name.into(),
        differences,
        versions: versions(a.versions, b.versions),
        same,
    }
}

/// Programs that took part in only one of the two are the experiment's difference, not the environment's.
fn versions(a: &BTreeMap<String, String>, b: &BTreeMap<String, String>) -> Vec<VersionDifference> {
    let both = a.iter().filter_map(|(name, version)| Some((name, version, b.get(name)?)));
    both.filter(|(_, a, b)| a != b)
        .map(|(name, a, b)| VersionDifference { name: name.clone(), a: a.clone(), b: b.clone() })
        .collect()
}

fn difference(a: Option<&Fact>, b: Option<&Fact>) -> Option<Difference> {
    let one = b.or(a)?;
    let value = |fact: Option<&Fact>| fact.and_then(|fact| fact.value.clone());
    let (value_a, value_b) = (value(a), value(b));
    // A fact of an older file does not say its bearing, so the higher one holds.
    let bearing = a.map_or(one.bearing, |a| a.bearing.max(one.bearing));
    let weight = match (a, b) {
        (Some(a), Some(b)) if value_a.is_some() && value_b.is_some() => {
            if is_same(a, b, bearing) {
                return None;
            }
            weight(a.severity, b.severity, bearing)
        }
        _ if value_a.is_none() && value_b.is_none() => return None,
        _ => Weight::Unknown,
    };
    Some(Difference {
        id: one.id.clone(),
        title: one.title.clone(),
        a: value_a,
        b: value_b,
        severity: a.map_or(one.severity, |a| a.severity.max(one.severity)),
        bearing,
        weight,
        effect: one.effect.clone(),
    })
}

/// Both have a value.
fn is_same(a: &Fact, b: &Fact, bearing: Bearing) -> bool {
    if bearing == Bearing::Moment {
        return a.severity == b.severity;
    }
    match (a.amount, b.amount) {
        (Some(x), Some(y)) => {
            let largest = x.value.abs().max(y.value.abs());
            a.severity == b.severity && (x.value - y.value).abs() <= x.tolerance.max(y.tolerance) * largest
        }
        // By their text: a file of an older prony has no ids.
        _ => a.value.as_deref() == b.value.as_deref(),
    }
}

fn weight(a: Severity, b: Severity, bearing: Bearing) -> Weight {
    let one_is_bad = a != b && a.max(b) >= Severity::Warning;
    if bearing == Bearing::Numbers || one_is_bad { Weight::Decisive } else { Weight::Possible }
}

#[cfg(test)]
mod tests {
    use super::*;
    use Severity::{Note, Ok, Warning};
    use schema::doctor::Amount;
    use std::slice;

    fn fact(id: &str, value: Option<&str>, severity: Severity, bearing: Bearing) -> Fact {
        Fact {
            id: id.into(),
            title: id.into(),
            value: value.map(Into::into),
            severity,
            effect: "it matters".into(),
            remedy: None,
            bearing,
            amount: None,
        }
    }

    fn amounting(value: f64, severity: Severity) -> Fact {
        let text = format!("{value} µs");
        Fact {
            amount: Some(Amount { value, tolerance: 0.02 }),
            ..fact("cpu.speed", Some(&text), severity, Bearing::Numbers)
        }
    }

    fn diff(a: &[Fact], b: &[Fact]) -> EnvironmentDiff {
        let host = |facts: &[Fact]| DoctorReport { facts: facts.to_vec(), ..DoctorReport::default() };
        let (a, b, none) = (host(a), host(b), BTreeMap::new());
        environment_diff(
            Surroundings { name: "a", host: &a, versions: &none },
            Surroundings { name: "b", host: &b, versions: &none },
        )
    }

    /// Identifier and weight of each difference, in order.
    fn weights(a: &[Fact], b: &[Fact]) -> Vec<(String, Weight)> {
        diff(a, b).differences.into_iter().map(|found| (found.id, found.weight)).collect()
    }

    #[test]
    fn what_moves_every_number_comes_first() {
        let a = [
            fact("same", Some("1"), Ok, Bearing::Numbers),
            fact("lost", Some("x"), Ok, Bearing::Numbers),
            fact("ports", Some("many"), Ok, Bearing::SomeLoads),
            fact("swap", Some("off"), Ok, Bearing::SomeLoads),
            fact("cpu", Some("old"), Ok, Bearing::Numbers),
            fact("governor", Some("performance"), Ok, Bearing::Numbers),
        ];
        let b = [
            fact("same", Some("1"), Ok, Bearing::Numbers),
            fact("lost", None, Note, Bearing::Numbers),
            fact("ports", Some("fewer"), Note, Bearing::SomeLoads),
            fact("swap", Some("used"), Warning, Bearing::SomeLoads),
            fact("cpu", Some("new"), Ok, Bearing::Numbers),
            fact("governor", Some("powersave"), Warning, Bearing::Numbers),
            fact("added", Some("y"), Ok, Bearing::SomeLoads),
        ];
        let found = diff(&a, &b);
        assert_eq!(found.same, 1);
        let order: Vec<_> = found.differences.iter().map(|one| (one.id.as_str(), one.weight)).collect();
        use Weight::{Decisive, Possible, Unknown};
        let wanted = [
            ("swap", Decisive),
            ("governor", Decisive),
            ("cpu", Decisive),
            ("ports", Possible),
            ("lost", Unknown),
            ("added", Unknown),
        ];
        assert_eq!(order, wanted);
        assert_eq!(found.differences[1].severity, Warning);
        assert_eq!(found.differences[4].b, None);
        assert_eq!(diff(&a, &a).differences, []);
        assert_eq!(diff(&b, &b).differences, [], "unknown on both sides is no difference");
    }

    #[test]
    fn a_state_of_the_moment_is_compared_by_severity_and_an_amount_by_its_tolerance() {
        let steal = |text: &str, severity| fact("host.steal", Some(text), severity, Bearing::Moment);
        assert_eq!(weights(&[steal("0.1 %", Ok)], &[steal("0.3 %", Ok)]), []);
        let found = weights(&[steal("0.1 %", Ok)], &[steal("3 %", Warning)]);
        assert_eq!(found, [("host.steal".to_owned(), Weight::Decisive)]);
        assert_eq!(weights(&[amounting(100.0, Ok)], &[amounting(101.9, Ok)]), []);
        let speed = [("cpu.speed".to_owned(), Weight::Decisive)];
        assert_eq!(weights(&[amounting(100.0, Ok)], &[amounting(103.0, Ok)]), speed);
        assert_eq!(weights(&[amounting(100.0, Ok)], &[amounting(100.0, Warning)]), speed);
        assert_eq!(weights(&[amounting(f64::NAN, Ok)], &[amounting(1.0, Ok)]), speed, "not a number differs");
    }

    #[test]
    fn an_older_file_takes_the_bearing_of_the_newer() {
        let old = fact("cpu.model", Some("x"), Ok, Bearing::default());
        let new = fact("cpu.model", Some("y"), Ok, Bearing::Numbers);
        for (a, b) in [(&old, &new), (&new, &old)] {
            let found = weights(slice::from_ref(a), slice::from_ref(b));
            assert_eq!(found, [("cpu.model".to_owned(), Weight::Decisive)]);
        }
    }

    #[test]
    fn versions_of_what_took_part_in_both() {
        let map = |pairs: &[(&str, &str)]| -> BTreeMap<String, String> {
            pairs.iter().map(|(name, version)| ((*name).to_owned(), (*version).to_owned())).collect()
        };
        let found = versions(
            &map(&[("prony", "1"), ("kernel", "6"), ("go/gin: go", "1.26")]),
            &map(&[("prony", "2"), ("kernel", "6"), ("go/echo: go", "1.25")]),
        );
        assert_eq!(found, [VersionDifference { name: "prony".into(), a: "1".into(), b: "2".into() }]);
    }
}
