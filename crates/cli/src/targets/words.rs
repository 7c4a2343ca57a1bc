//! Checks and builds in words, a few lines a target.

use report::format;
use schema::target_check::{CheckOutcome, RouteCheck, TargetBuild, TargetCheck};
use std::fmt::Write as _;

/// Differences shown of one route; JSON has all.
const SHOWN_MAX: usize = 3;

/// The table of one target.
pub(super) fn check(check: &TargetCheck) -> String {
    let mut facts = Vec::new();
    facts.extend(check.build_ns.map(|time| format!("built in {}", format::nanos(time))));
    facts.extend(check.ready_ns.map(|time| format!("cold start {}", format::nanos(time))));
    let mut text = head(&check.name, check.outcome, &facts);
    reasons(&mut text, &check.reasons, "  ");
    for route in &check.routes {
        let _ = writeln!(text, "  {:<12} {:>8} {}", route.name, asked(route), route.outcome.key());
        let shown = &route.reasons[..route.reasons.len().min(SHOWN_MAX)];
        reasons(&mut text, shown, "      ");
        let more = route.reasons.len() - shown.len();
        if more > 0 {
            let _ = writeln!(text, "      and {more} more; --format json has all");
        }
    }
    text
}

/// The line of one build.
pub(super) fn build(build: &TargetBuild) -> String {
    let time = build.build_ns.map(format::nanos);
    let fact = match (time, build.fresh, build.outcome) {
        (Some(time), true, _) => vec![format!("was fresh, seen in {time}")],
        (Some(time), false, _) => vec![format!("built in {time}")],
        (None, _, CheckOutcome::Ok) => vec!["nothing to build".to_owned()],
        (None, ..) => Vec::new(),
    };
    let mut text = head(&build.name, build.outcome, &fact);
    reasons(&mut text, &build.reasons, "  ");
    text
}

fn head(name: &str, outcome: CheckOutcome, facts: &[String]) -> String {
    let line = format!("{name:<18} {:<8} {}", outcome.key(), facts.join(", "));
    format!("{}\n", line.trim_end())
}

fn asked(route: &RouteCheck) -> String {
    if route.asked == route.requests {
        route.asked.to_string()
    } else {
        format!("{} of {}", route.asked, route.requests)
    }
}

fn reasons(text: &mut String, reasons: &[String], indent: &str) {
    for reason in reasons {
        for line in reason.lines() {
            let _ = writeln!(text, "{indent}{line}");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_check_is_told_route_by_route() {
        let route = |name: &str, outcome, reasons: &[&str]| RouteCheck {
            name: name.into(),
            outcome,
            requests: 4,
            asked: if outcome == CheckOutcome::Skipped { 0 } else { 4 },
            reasons: reasons.iter().map(|text| (*text).to_owned()).collect(),
        };
        let told = check(&TargetCheck {
            name: "go/x".into(),
            outcome: CheckOutcome::Failed,
            reasons: vec!["it ended\n  remedy: look".into()],
            build_ns: None,
            ready_ns: Some(8_000_000),
            routes: vec![
                route("ping", CheckOutcome::Ok, &[]),
                route("db", CheckOutcome::Skipped, &["needs mariadb, which is not started"]),
                route("json", CheckOutcome::Failed, &["a", "b", "c", "d"]),
            ],
        });
        let expected = "go/x               failed   cold start 8.00 ms\n  it ended\n    remedy: look\n  ping       \
                               \u{20}        4 ok\n  db             0 of 4 skipped\n      needs mariadb, which is not started\n  \
                        json                4 failed\n      a\n      b\n      c\n      and 1 more; --format json has all\n";
        assert_eq!(told, expected);
    }
}
