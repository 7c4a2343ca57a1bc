//! `[[claim]]`: from names and levels to cells and bounds, by kind.
//!
//! Invariants: a claim has exactly one kind and no key that this kind has no use for; every number is in the unit of
//! its metric; a mistake is reported at its key, with the nearest name that would do.
//! Absent on purpose: whether the claim can be tested with the trials that come out (the analyze crate says so).

mod bound;
mod cells;
mod published;
mod suggest;
#[cfg(test)]
mod tests;

pub(super) use bound::number;
use bound::{load, margin, ratio};
use cells::{Names, cell, second_cell, target};
use published::{Scale, band, direction, has_unit, load_span, number_span, ratio_span, value as value_of};
use schema::counter_metric::ClaimMetric;
use schema::experiment::{At, Claim};
use schema::metric::{Metric, Unit};
use schema::plan::{CellPlan, ClaimMargin, ClaimPlan, ClaimQuantity, ClaimTest, TargetPlan};
use schema::published::{PublishedPlan, Span};
use schema::text::Problem;
pub(super) use suggest::suggestion;

/// Most targets of one `order`: Holm's correction over more pairs would leave little to be shown.
const ORDER_MAX: usize = 50;

/// The keys that give a claim its kind.
const KINDS: [&str; 9] =
    ["ratio", "difference", "is", "order", "equivalent", "no_worse", "knee", "no_leak", "published"];

/// `margin` is the experiment's, for claims without one of their own.
pub(super) fn resolve(
    claims: &[Claim],
    targets: &[TargetPlan],
    cells: &[CellPlan],
    margin: f64,
) -> Result<Vec<ClaimPlan>, Problem> {
    let names = Names { targets, cells };
    let claim = |(position, claim)| {
        let one = One { claim, key: format!("claim.{position}"), names, margin };
        one.counter()?;
        let (id, test, published) = (one.id(claims)?, one.test()?, one.published()?);
        Ok(ClaimPlan { text: claim.text.clone(), metric: claim.metric.clone(), id, published, test })
    };
    claims.iter().enumerate().map(claim).collect()
}

/// One claim with what it is resolved against.
struct One<'a> {
    claim: &'a Claim,
    /// Where it stands in the file.
    key: String,
    names: Names<'a>,
    margin: f64,
}

impl One<'_> {
    fn key(&self, name: &str) -> String {
        format!("{}.{name}", self.key)
    }

    /// The keys that are written, of those that not every kind has.
    fn written(&self) -> Vec<&'static str> {
        let claim = self.claim;
        [
            ("ratio", claim.ratio.is_some()),
            ("difference", claim.difference.is_some()),
            ("is", claim.is.is_some()),
            ("order", claim.order.is_some()),
            ("equivalent", claim.equivalent.is_some()),
            ("no_worse", claim.no_worse.is_some()),
            ("knee", claim.knee.is_some()),
            ("no_leak", claim.no_leak.is_some()),
            ("published", claim.published.is_some()),
            ("direction", claim.direction.is_some()),
            ("tolerance", claim.tolerance.is_some()),
            ("metric", claim.metric.is_some()),
            ("better", claim.better.is_some()),
            ("than", claim.than.is_some()),
            ("of", claim.of.is_some()),
            ("margin", claim.margin.is_some()),
            ("at", claim.at != At::default()),
            ("than_at", claim.than_at != At::default()),
        ]
        .into_iter()
        .filter_map(|(name, is_written)| is_written.then_some(name))
        .collect()
    }

    fn test(&self) -> Result<ClaimTest, Problem> {
        let written = self.written();
        let kinds: Vec<&str> = written.iter().copied().filter(|name| KINDS.contains(name)).collect();
        let [kind] = kinds[..] else {
            return Err(self.no_kind(&kinds));
        };
        let (wanted, allowed): (&[&str], &[&str]) = match kind {
            "ratio" | "difference" => (&["metric", "better", "than"], &["at", "than_at"]),
            "is" => (&["metric", "of"], &["at"]),
            "order" => (&["metric"], &["at"]),
            "equivalent" => (&["metric"], &["margin", "at", "than_at"]),
            "no_worse" => (&["metric", "than"], &["margin", "at", "than_at"]),
            "knee" => (&["metric", "of"], &[]),
            "published" if claim_of_value(self.claim) => (&["metric", "of"], &["at", "tolerance"]),
            "published" => (&["metric", "better", "than"], &["at", "than_at", "direction", "tolerance"]),
            _ => (&[], &[]),
        };
        if let Some(missing) = wanted.iter().find(|name| !written.contains(name)) {
            let cause = format!("a claim with `{kind}` needs `{missing}`");
            let what = if *missing == "metric" { "for example p99 or throughput" } else { "a target" };
            return Err(Problem::at(&self.key(kind), cause, format!("add {missing} = \"NAME\", {what}")));
        }
        let idle =
            written.iter().find(|name| **name != kind && !wanted.contains(name) && !allowed.contains(name));
        if let Some(idle) = idle {
            let cause = format!("a claim with `{kind}` has no use for `{idle}`");
            return Err(Problem::at(&self.key(idle), cause, "remove it"));
        }
        self.of_kind(kind)
    }

    /// The counter that it names, as far as that can be known before anything was counted.
    fn counter(&self) -> Result<(), Problem> {
        match &self.claim.metric {
            Some(ClaimMetric::Counter(counter)) => super::counter::check(counter, &self.key("metric")),
            _ => Ok(()),
        }
    }

    fn no_kind(&self, kinds: &[&str]) -> Problem {
        let remedy = format!("give exactly one of {}", KINDS.join(", "));
        match kinds {
            [] => Problem::at(&self.key, "the claim says nothing about its metric", remedy),
            [_, second, ..] => {
                let cause = format!("a claim makes one statement, and this one has {}", kinds.join(" and "));
                Problem::at(&self.key(second), cause, remedy)
            }
            [_] => Problem::at(&self.key, "the claim cannot be read", remedy),
        }
    }

    fn of_kind(&self, kind: &str) -> Result<ClaimTest, Problem> {
        let claim = self.claim;
        let text = |text: &Option<String>| text.clone().unwrap_or_default();
        if kind == "no_leak" {
            let target = target(&text(&claim.no_leak), &self.key(kind), self.names)?;
            return Ok(ClaimTest::NoLeak { target });
        }
        // `test` has seen that there is one.
        let usual = ClaimMetric::Named(Metric::Throughput);
        let metric = claim.metric.as_ref().unwrap_or(&usual);
        match kind {
            "ratio" => {
                let key = self.key("ratio");
                let (numerator, denominator) =
                    self.two(("better", &text(&claim.better)), ("than", &text(&claim.than)))?;
                if let Some(span) = ratio_span(&text(&claim.ratio), &key)? {
                    return Ok(within(ClaimQuantity::Ratio { numerator, denominator }, span));
                }
                let (comparison, bound) = ratio(&text(&claim.ratio), &key)?;
                Ok(ClaimTest::Ratio { numerator, denominator, comparison, bound })
            }
            "difference" => {
                let key = self.key("difference");
                let (minuend, subtrahend) =
                    self.two(("better", &text(&claim.better)), ("than", &text(&claim.than)))?;
                if let Some(span) = number_span(&text(&claim.difference), metric, true, &key)? {
                    return Ok(within(ClaimQuantity::Difference { minuend, subtrahend }, span));
                }
                let (comparison, bound) = number(&text(&claim.difference), metric, true, &key)?;
                Ok(ClaimTest::Difference { minuend, subtrahend, comparison, bound })
            }
            "is" => {
                let cell = cell(&text(&claim.of), &self.key("of"), (&claim.at, &self.key("at")), self.names)?;
                if let Some(span) = number_span(&text(&claim.is), metric, false, &self.key("is"))? {
                    return Ok(within(ClaimQuantity::Value { cell }, span));
                }
                let (comparison, bound) = number(&text(&claim.is), metric, false, &self.key("is"))?;
                Ok(ClaimTest::Threshold { cell, comparison, bound })
            }
            "order" => self.order(claim.order.as_deref().unwrap_or_default()),
            "equivalent" => {
                let [a, b] = claim.equivalent.as_deref().unwrap_or_default() else {
                    let remedy = "write equivalent = [\"NAME\", \"NAME\"]";
                    return Err(Problem::at(&self.key("equivalent"), "two targets are needed", remedy));
                };
                let (a, b) = self.two(("equivalent", a), ("equivalent", b))?;
                Ok(ClaimTest::Equivalent { a, b, margin: self.margin(kind, metric)? })
            }
            "knee" => self.knee(metric),
            "published" => self.as_published(metric),
            _ => {
                let (cell, than) =
                    self.two(("no_worse", &text(&claim.no_worse)), ("than", &text(&claim.than)))?;
                Ok(ClaimTest::NoWorse { cell, than, margin: self.margin(kind, metric)? })
            }
        }
    }

    /// Two different cells, each by the key that names its target.
    fn two(&self, first: (&str, &str), second: (&str, &str)) -> Result<(String, String), Problem> {
        let (claim, at_key) = (self.claim, self.key("at"));
        let a = cell(first.1, &self.key(first.0), (&claim.at, &at_key), self.names)?;
        let levels = (&claim.at, at_key.as_str(), &claim.than_at, self.key("than_at"));
        let b = second_cell(second.1, &self.key(second.0), levels, self.names)?;
        if a == b {
            let remedy = "name two targets, or another level in than_at";
            return Err(Problem::at(&self.key(second.0), "a target is compared with itself", remedy));
        }
        Ok((a, b))
    }

    fn order(&self, names: &[String]) -> Result<ClaimTest, Problem> {
        let key = self.key("order");
        if !(2..=ORDER_MAX).contains(&names.len()) {
            let cause = format!("an order of {} targets cannot be tested", names.len());
            return Err(Problem::at(&key, cause, format!("name from 2 to {ORDER_MAX}, the best first")));
        }
        let at = (&self.claim.at, self.key("at"));
        let cells = names.iter().map(|name| cell(name, &key, (at.0, &at.1), self.names));
        let cells = cells.collect::<Result<Vec<String>, Problem>>()?;
        let twice = names.iter().enumerate().find(|(place, name)| names[..*place].contains(name));
        match twice {
            Some((_, name)) => {
                Err(Problem::at(&key, format!("`{name}` stands in it twice"), "name each target once"))
            }
            None => Ok(ClaimTest::Ordering { cells }),
        }
    }

    /// Only what bends has a knee.
    fn knee(&self, metric: &ClaimMetric) -> Result<ClaimTest, Problem> {
        if !matches!(metric.named(), Some(Metric::Throughput | Metric::P95)) {
            let cause = format!("no knee of {} is looked for", metric.key());
            return Err(Problem::at(&self.key("metric"), cause, "name throughput or p95"));
        }
        let claim = self.claim;
        let (text, key) = (claim.knee.as_deref().unwrap_or_default(), self.key("knee"));
        let target = target(claim.of.as_deref().unwrap_or_default(), &self.key("of"), self.names)?;
        if let Some(span) = load_span(text, &key)? {
            return Ok(within(ClaimQuantity::Knee { target }, span));
        }
        let (comparison, bound) = load(text, &key)?;
        Ok(ClaimTest::Knee { target, comparison, bound })
    }

    /// The printed ratio, difference or value, with its tolerance.
    fn as_published(&self, metric: &ClaimMetric) -> Result<ClaimTest, Problem> {
        let claim = self.claim;
        let text = |text: &Option<String>| text.clone().unwrap_or_default();
        let span = self.band(metric)?;
        let quantity = if claim_of_value(claim) {
            let cell = cell(&text(&claim.of), &self.key("of"), (&claim.at, &self.key("at")), self.names)?;
            ClaimQuantity::Value { cell }
        } else {
            let (a, b) = self.two(("better", &text(&claim.better)), ("than", &text(&claim.than)))?;
            match self.scale(metric) {
                Scale::Between(_) => ClaimQuantity::Difference { minuend: a, subtrahend: b },
                _ => ClaimQuantity::Ratio { numerator: a, denominator: b },
            }
        };
        Ok(within(quantity, span))
    }

    fn printed(&self, metric: &ClaimMetric) -> Result<Option<Span>, Problem> {
        let value = self.claim.published.as_ref();
        value.map(|given| value_of(given, self.scale(metric), &self.key("published"))).transpose()
    }

    fn band(&self, metric: &ClaimMetric) -> Result<Span, Problem> {
        let value = self.printed(metric)?.unwrap_or_default();
        let key = self.key(if self.claim.tolerance.is_some() { "tolerance" } else { "published" });
        band(value, self.claim.tolerance.as_ref(), self.scale(metric), &key)
    }

    fn scale<'a>(&self, metric: &'a ClaimMetric) -> Scale<'a> {
        match &self.claim.published {
            _ if claim_of_value(self.claim) => Scale::Of(metric),
            Some(given) if has_unit(given) => Scale::Between(metric),
            _ => Scale::Ratio,
        }
    }

    /// A published number has a source, and what has conditions has one.
    fn published(&self) -> Result<Option<PublishedPlan>, Problem> {
        let claim = self.claim;
        let Some(source) = claim.source.clone() else {
            let key = match (claim.published.is_some(), claim.conditions.is_empty()) {
                (true, _) => "published",
                (false, false) => "conditions",
                (false, true) => return Ok(None),
            };
            let cause = format!("`{key}` is of somebody else's claim, and it has no source");
            let remedy = "add source = { article = \"NAME\", place = \"its table or section\" }";
            return Err(Problem::at(&self.key(key), cause, remedy));
        };
        let usual = ClaimMetric::Named(Metric::Throughput);
        let metric = claim.metric.as_ref().unwrap_or(&usual);
        let value = self.printed(metric)?;
        let direction = value
            .filter(|_| !claim_of_value(claim))
            .map(|value| direction(value, self.scale(metric), claim.direction));
        Ok(Some(PublishedPlan { source, value, direction, conditions: claim.conditions.clone() }))
    }

    /// Unique within the experiment.
    fn id(&self, all: &[Claim]) -> Result<Option<String>, Problem> {
        let Some(id) = &self.claim.id else { return Ok(None) };
        let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
        if id.is_empty() || id.len() > 60 || !id.chars().all(is_plain) {
            let remedy = "use letters, digits, `-`, `_` and `.`, at most 60 of them";
            return Err(Problem::at(&self.key("id"), format!("`{id}` is no name"), remedy));
        }
        match all.iter().filter(|claim| claim.id.as_ref() == Some(id)).count() {
            1 => Ok(Some(id.clone())),
            _ => Err(Problem::at(&self.key("id"), format!("two claims are called `{id}`"), "rename one")),
        }
    }

    /// A share of the metric, or a difference in its unit. Shares have no ratio where they are 0, which is usual.
    fn margin(&self, kind: &str, metric: &ClaimMetric) -> Result<ClaimMargin, Problem> {
        let found = margin(self.claim.margin.as_ref(), self.margin, metric, &self.key("margin"))?;
        if metric.unit() == Unit::Share && matches!(found, ClaimMargin::Ratio(_)) {
            let key = if self.claim.margin.is_some() { "margin" } else { kind };
            let cause = format!("{} is often 0, which has no ratio to have a margin of", metric.key());
            return Err(Problem::at(
                &self.key(key),
                cause,
                "write the margin as a difference: margin = \"0.1%\"",
            ));
        }
        Ok(found)
    }
}

/// A published value is one of a target, a published ratio one of two.
const fn claim_of_value(claim: &Claim) -> bool {
    claim.of.is_some()
}

const fn within(quantity: ClaimQuantity, span: Span) -> ClaimTest {
    ClaimTest::Within { quantity, span }
}
