//! All families whose names fit patterns, each summed over its series: for counters beside the load, whatever they are.
//!
//! | declared as | becomes |
//! |---|---|
//! | gauge, unknown, untyped, nothing | gauge of its name; counter where the name ends in `_total` |
//! | counter | counter of the sample's name |
//! | histogram, summary | counters `…_count` and `…_sum`; of a histogram its buckets too |
//!
//! Left out: quantiles of summaries, which cannot be summed, `_created`, info and state sets, values that are not
//! finite.
//!
//! Invariant: at most [`FAMILIES_MAX`] names are kept, the first of the text; the number of the others is reported.

use super::{Buckets, Exposition, read};
use crate::error::ParseError;
use schema::server_side::BucketUnit;
use std::collections::{BTreeMap, BTreeSet};

/// Most families of one text.
pub const FAMILIES_MAX: usize = 200;

/// What is added to a family's name in its samples.
const SUFFIXES: [&str; 5] = ["_bucket", "_count", "_sum", "_total", "_created"];

/// Sums by name.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Families {
    /// Values as they stand.
    pub gauges: BTreeMap<String, f64>,
    /// Values that only grow.
    pub counters: BTreeMap<String, f64>,
    /// By the family's name, without `_bucket`; bounds are kept as if they were seconds.
    pub histograms: BTreeMap<String, Buckets>,
    /// Names that fit and were left out for their number.
    pub dropped: usize,
}

enum Role {
    Gauge,
    Counter,
    Bucket,
}

/// Reads the families whose names fit one of the patterns, in which `*` stands for any text.
///
/// # Errors
/// The text is in neither format, or has too many of the samples.
pub fn families(body: &[u8], patterns: &[String]) -> Result<Families, ParseError> {
    let fits = |name: &str| patterns.iter().any(|pattern| is_fit(pattern.as_bytes(), name.as_bytes()));
    let is_sample =
        |name: &str| fits(name) || SUFFIXES.iter().filter_map(|suffix| name.strip_suffix(suffix)).any(fits);
    let is_family = |name: &str| fits(name) || fits(&format!("{name}_total"));
    Ok(read(body, &is_sample, &is_family)?.families())
}

/// Whether a name fits a pattern; linear in their product whatever they are.
fn is_fit(pattern: &[u8], name: &[u8]) -> bool {
    let (mut at, mut read) = (0, 0);
    // Where the latest `*` stands, and from where on what follows it is tried next.
    let mut star: Option<(usize, usize)> = None;
    while read < name.len() {
        if pattern.get(at) == Some(&b'*') {
            star = Some((at, read));
            at += 1;
        } else if pattern.get(at) == Some(&name[read]) {
            at += 1;
            read += 1;
        } else if let Some((place, tried)) = star {
            star = Some((place, tried + 1));
            (at, read) = (place + 1, tried + 1);
        } else {
            return false;
        }
    }
    pattern[at.min(pattern.len())..].iter().all(|byte| *byte == b'*')
}

impl Exposition {
    fn families(&self) -> Families {
        let mut found = Families::default();
        let mut kept = BTreeSet::new();
        let mut dropped = BTreeSet::new();
        let mut bucketed = BTreeSet::new();
        for sample in self.samples.iter().filter(|sample| sample.value.is_finite()) {
            let Some((family, role)) = self.role(&sample.name) else { continue };
            if !kept.contains(family) {
                if kept.len() == FAMILIES_MAX {
                    dropped.insert(family);
                    continue;
                }
                kept.insert(family);
            }
            let sums = match role {
                Role::Gauge => &mut found.gauges,
                Role::Counter => &mut found.counters,
                Role::Bucket => {
                    bucketed.insert(family);
                    continue;
                }
            };
            *sums.entry(sample.name.clone()).or_default() += sample.value;
        }
        let none = BTreeMap::new();
        let buckets = bucketed.into_iter().filter_map(|family| {
            // One odd histogram is no reason to lose the other families.
            Some((family.to_owned(), self.buckets(family, &none, BucketUnit::Seconds).ok()?))
        });
        found.histograms = buckets.collect();
        found.gauges.retain(|_, value| value.is_finite());
        found.counters.retain(|_, value| value.is_finite());
        found.dropped = dropped.len();
        found
    }

    /// The family of a sample, and what the sample is in it; nothing where it is left out.
    fn role<'a>(&self, name: &'a str) -> Option<(&'a str, Role)> {
        let kind = |family: &str| self.kinds.get(family).map(String::as_str);
        for suffix in SUFFIXES {
            let Some(family) = name.strip_suffix(suffix) else { continue };
            match (kind(family), suffix) {
                (Some("histogram"), "_bucket") => return Some((family, Role::Bucket)),
                (Some("histogram" | "summary"), "_count" | "_sum") => return Some((family, Role::Counter)),
                (Some("counter"), "_total") => return Some((family, Role::Counter)),
                (Some("histogram" | "summary" | "counter"), "_created") => return None,
                _ => {}
            }
        }
        match kind(name) {
            Some("counter") => Some((name, Role::Counter)),
            Some("gauge") => Some((name, Role::Gauge)),
            None | Some("unknown" | "untyped") if name.ends_with("_total") => Some((name, Role::Counter)),
            None | Some("unknown" | "untyped") => Some((name, Role::Gauge)),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn select(text: &str, patterns: &[&str]) -> Families {
        let patterns: Vec<String> = patterns.iter().map(|pattern| (*pattern).to_owned()).collect();
        families(text.as_bytes(), &patterns).unwrap()
    }

    #[test]
    fn patterns() {
        let check = |pattern: &str, name: &str, fits: bool| {
            assert_eq!(is_fit(pattern.as_bytes(), name.as_bytes()), fits, "{pattern} {name}");
        };
        check("http_*", "http_requests_total", true);
        check("http_*", "xhttp_requests", false);
        check("*", "", true);
        check("up", "up", true);
        check("up", "upper", false);
        check("", "up", false);
        check("a*b*c", "a__b_c_b_c", true);
        check("a*b*c", "a__b_c_b", false);
        check("*_total", "x_total_total", true);
    }

    const TEXT: &str = "# TYPE up gauge\nup{a=\"1\"} 1\nup{a=\"2\"} 0.5\n\
        # TYPE http_requests_total counter\nhttp_requests_total{code=\"200\"} 7\nhttp_requests_total{code=\"500\"} 2\n\
        # TYPE h histogram\nh_bucket{le=\"0.1\"} 3\nh_bucket{le=\"+Inf\"} 4\nh_sum 1.5\nh_count 4\n\
        # TYPE s summary\ns{quantile=\"0.5\"} 2\ns_sum 8\ns_count 4\n\
        # TYPE om counter\nom_total 9\nom_created 1\nbare 3\nbare_total 4\nnone NaN\n";

    #[test]
    fn each_type_becomes_what_it_is() {
        let found = select(TEXT, &["*"]);
        let names = |map: &BTreeMap<String, f64>| map.keys().cloned().collect::<Vec<_>>();
        assert_eq!(names(&found.gauges), ["bare", "up"]);
        assert_eq!(
            names(&found.counters),
            ["bare_total", "h_count", "h_sum", "http_requests_total", "om_total", "s_count", "s_sum"]
        );
        assert_eq!((found.gauges["up"], found.counters["http_requests_total"]), (1.5, 9.0));
        assert_eq!(found.histograms["h"].count(), 4);
        let found = select(TEXT, &["http_*", "om_total"]);
        assert_eq!(names(&found.counters), ["http_requests_total", "om_total"]);
        assert!(found.gauges.is_empty() && found.histograms.is_empty());
    }

    #[test]
    fn the_number_of_families_is_bounded() {
        let text: String = (0..FAMILIES_MAX + 7).map(|k| format!("f{k} 1\n")).collect();
        let found = select(&text, &["f*"]);
        assert_eq!((found.gauges.len(), found.dropped), (FAMILIES_MAX, 7));
        assert!(found.gauges.contains_key("f0"));
    }

    #[test]
    fn an_odd_histogram_leaves_the_others() {
        let text = "# TYPE h histogram\nh_bucket{le=\"1\"} 3\n# TYPE up gauge\nup 1\n";
        let found = select(text, &["*"]);
        assert!(found.histograms.is_empty() && found.gauges["up"] == 1.0);
    }
}
