//! `export const options` as arguments of `prony load`.

use super::values::Val;
use crate::error::{Problem, quoted};
use crate::notes::Notes;
use crate::texts::{self, digits};
use units::Nanos;

/// Largest numbers that are taken over.
const COUNT_MAX: f64 = 1e9;
/// Options that say how the results are shown, or nothing that a load has.
const SILENT: [&str; 6] =
    ["summaryTrendStats", "summaryTimeUnit", "discardResponseBodies", "tags", "systemTags", "setupTimeout"];

/// What the options say.
#[derive(Debug, Default)]
pub(super) struct Options {
    /// Arguments, without the pause between two iterations.
    pub(super) arguments: Vec<String>,
    /// Whether sessions begin by a rate: then no pause lies between two of one user.
    pub(super) is_open: bool,
    /// The function of the scenario.
    pub(super) exec: Option<String>,
}

/// The options of a scenario, by name where there are several; `line` is that of the options.
///
/// # Errors
/// Several scenarios of which none is named, or a name that is none.
pub(super) fn options(
    given: Option<&Val>,
    scenario: Option<&str>,
    line: usize,
    notes: &mut Notes,
) -> Result<Options, Problem> {
    let mut made = Options::default();
    let Some(Val::Object(entries)) = given else { return Ok(made) };
    let of = |name: &str| entries.iter().find(|(known, _)| known == name).map(|(_, value)| value);
    match of("scenarios") {
        Some(Val::Object(scenarios)) => {
            let chosen = chosen(scenarios, scenario, line)?;
            for (name, _) in scenarios.iter().filter(|(name, _)| *name != chosen.0) {
                notes.count(&format!(
                    "left out: the scenario {} (line {line}), import it on its own, with --group",
                    quoted(name)
                ));
            }
            if let Val::Object(settings) = &chosen.1 {
                executor(settings, line, &mut made, notes);
            }
        }
        _ if scenario.is_some() => {
            return Err(Problem::new("the script has no scenarios", "leave --group out").at(line));
        }
        _ => executor(entries, line, &mut made, notes),
    }
    for (name, value) in entries {
        match (name.as_str(), value) {
            ("thresholds", Val::Object(all)) => thresholds(all, line, &mut made.arguments, notes),
            ("insecureSkipTLSVerify", Val::Bool(true)) => made.arguments.push("--insecure".to_owned()),
            ("noConnectionReuse" | "noVUConnectionReuse", Val::Bool(true)) => {
                made.arguments.push("--disable-keepalive".to_owned());
            }
            ("maxRedirects", Val::Number(most)) if *most > 0.0 => {
                made.arguments.push(format!("--follow={most}"));
            }
            ("scenarios" | "vus" | "duration" | "iterations" | "stages" | "executor", _) => {}
            (name, Val::Bool(false) | Val::Null) if !name.is_empty() => {}
            (name, _) if SILENT.contains(&name) => {}
            (name, _) => notes.count(&format!(
                "left out: the option {name} (line {line}), see the arguments of prony load"
            )),
        }
    }
    Ok(made)
}

fn chosen<'v>(
    scenarios: &'v [(String, Val)],
    wanted: Option<&str>,
    line: usize,
) -> Result<&'v (String, Val), Problem> {
    let names = || scenarios.iter().map(|(name, _)| quoted(name)).collect::<Vec<_>>().join(", ");
    match (scenarios, wanted) {
        ([only], None) => Ok(only),
        (_, None) => Err(Problem::new(
            format!("there are {} scenarios in the script: {}", scenarios.len(), names()),
            "name one with --group, and import each on its own",
        )
        .at(line)),
        (_, Some(wanted)) => scenarios.iter().find(|(name, _)| name == wanted.trim()).ok_or_else(|| {
            Problem::new(
                format!("there is no scenario {}", quoted(wanted)),
                format!("name one of: {}", names()),
            )
            .at(line)
        }),
    }
}

/// One executor with its settings.
fn executor(settings: &[(String, Val)], line: usize, made: &mut Options, notes: &mut Notes) {
    let of = |name: &str| settings.iter().find(|(known, _)| known == name).map(|(_, value)| value);
    let count = |name: &str| match of(name) {
        Some(Val::Number(count)) if (0.0..=COUNT_MAX).contains(count) => Some(*count),
        _ => None,
    };
    let text = |name: &str| match of(name) {
        Some(Val::Text(pieces)) => texts::plain(pieces),
        _ => None,
    };
    let seconds = |name: &str| text(name).and_then(|text| seconds_of(&text));
    made.exec = text("exec");
    let stages = stages(of("stages"));
    let usual = match (stages.is_empty(), of("iterations")) {
        (false, _) => "ramping-vus",
        (true, Some(_)) => "shared-iterations",
        (true, None) => "constant-vus",
    };
    let kind = text("executor").unwrap_or_else(|| usual.to_owned());
    let arguments = &mut made.arguments;
    match kind.as_str() {
        "constant-vus" => {
            arguments.extend(count("vus").map(|vus| format!("-c {vus}")));
            arguments.extend(seconds("duration").map(|s| format!("-d {}s", digits(s))));
        }
        "shared-iterations" | "per-vu-iterations" => {
            let vus = count("vus").unwrap_or(1.0);
            let each = if kind == "per-vu-iterations" { vus } else { 1.0 };
            arguments.push(format!("-c {vus}"));
            arguments.push(format!("-n {}", (count("iterations").unwrap_or(1.0) * each).max(1.0)));
        }
        "ramping-vus" => {
            let start = count("startVUs").or(count("vus")).unwrap_or(1.0);
            let most = stages.iter().map(|(_, target)| *target).fold(start, f64::max).max(1.0);
            let whole_s: f64 = stages.iter().map(|(seconds, _)| seconds).sum();
            arguments.push(format!("-c {most}"));
            arguments.push(format!("-d {}s", digits(whole_s.max(1.0))));
            notes.count(&format!(
                "changed: the stages (line {line}), a number of users over time: prony keeps the most of them all the time. \
                 Ask by rate, or compare several numbers in an experiment"
            ));
        }
        "constant-arrival-rate" | "ramping-arrival-rate" => {
            made.is_open = true;
            let unit_s = seconds("timeUnit").filter(|s| *s > 0.0).unwrap_or(1.0);
            let start = count("rate").or(count("startRate")).unwrap_or_default() / unit_s;
            let first = if start > 0.0 {
                start
            } else {
                stages.iter().map(|(_, to)| to / unit_s).fold(1.0, f64::max)
            };
            arguments.push(format!("-R {}", digits(first)));
            arguments
                .extend(count("preAllocatedVUs").filter(|vus| *vus > 0.0).map(|vus| format!("-c {vus}")));
            arguments.extend(count("maxVUs").map(|vus| format!("--max-connections {vus}")));
            let mut at_s = 0.0;
            let mut points = vec![format!("0s@{}", digits(start))];
            for (seconds, target) in &stages {
                at_s += seconds;
                points.push(format!("{}s@{}", digits(at_s), digits(target / unit_s)));
            }
            if stages.is_empty() {
                arguments.extend(seconds("duration").map(|s| format!("-d {}s", digits(s))));
            } else {
                arguments.push(format!("--shape 'piecewise:{}'", points.join(",")));
                arguments.push(format!("-d {}s", digits(at_s.max(1.0))));
            }
        }
        other => notes.count(&format!(
            "left out: the executor {} (line {line}), say how much by -c or -R, and how long by -d",
            quoted(other)
        )),
    }
    if seconds("startTime").is_some_and(|s| s > 0.0) {
        notes.count(&format!("left out: the start time of the scenario (line {line}), it is the only one"));
    }
}

/// Lengths in seconds and targets.
fn stages(given: Option<&Val>) -> Vec<(f64, f64)> {
    let Some(Val::List(all)) = given else { return Vec::new() };
    let stage = |stage: &Val| {
        let Val::Object(entries) = stage else { return None };
        let of = |name: &str| entries.iter().find(|(known, _)| known == name).map(|(_, value)| value);
        let seconds = match of("duration") {
            Some(Val::Text(text)) => seconds_of(&texts::plain(text)?),
            _ => None,
        };
        match of("target") {
            Some(Val::Number(target)) if (0.0..=COUNT_MAX).contains(target) => Some((seconds?, *target)),
            _ => None,
        }
    };
    all.iter().filter_map(stage).collect()
}

/// `1m30s`, `500ms`.
fn seconds_of(text: &str) -> Option<f64> {
    let mut rest = text.trim();
    let mut whole_s = 0.0;
    while !rest.is_empty() {
        let number = rest.find(|c: char| !c.is_ascii_digit() && c != '.')?;
        let unit = rest[number..].find(|c: char| c.is_ascii_digit()).map_or(rest.len(), |at| number + at);
        let time: Nanos = rest[..unit].parse().ok()?;
        whole_s += time.0 as f64 / 1e9;
        rest = &rest[unit..];
    }
    (whole_s > 0.0 && whole_s <= 31.0 * 86_400.0).then_some(whole_s)
}

/// What must hold becomes what must not.
fn thresholds(all: &[(String, Val)], line: usize, arguments: &mut Vec<String>, notes: &mut Notes) {
    for (metric, given) in all {
        let conditions: Vec<String> = match given {
            Val::List(all) => all.iter().filter_map(condition).collect(),
            one => condition(one).into_iter().collect(),
        };
        for condition in conditions {
            match fail(metric, &condition) {
                Some(limit) => arguments.push(format!("--fail '{limit}'")),
                None => notes.count(&format!(
                    "left out: the threshold {} (line {line}), see --fail",
                    quoted(&format!("{metric}: {condition}"))
                )),
            }
        }
    }
}

/// A condition as text, or as `{ threshold: … }`.
fn condition(value: &Val) -> Option<String> {
    match value {
        Val::Text(pieces) => texts::plain(pieces),
        Val::Object(entries) => {
            entries.iter().find(|(name, _)| name == "threshold").and_then(|(_, value)| condition(value))
        }
        _ => None,
    }
}

fn fail(metric: &str, condition: &str) -> Option<String> {
    let at = condition.find(['<', '>'])?;
    let of = condition[..at].trim();
    let equals = condition[at + 1..].starts_with('=');
    let limit: f64 = condition[at + 1 + usize::from(equals)..].trim().parse().ok()?;
    // `<250` must hold: `>=250` has failed.
    let sign = match (&condition[at..=at], equals) {
        ("<", false) => ">=",
        ("<", true) => ">",
        (">", false) => "<=",
        _ => "<",
    };
    match metric {
        "http_req_duration" => {
            let of = match of {
                "avg" => "mean",
                "med" | "p(50)" => "p50",
                "p(90)" => "p90",
                "p(95)" => "p95",
                "p(99)" => "p99",
                "p(99.9)" => "p99.9",
                "max" | "min" => of,
                _ => return None,
            };
            Some(format!("{of}{sign}{}ms", digits(limit)))
        }
        "http_req_failed" if of == "rate" => Some(format!("errors{sign}{}%", digits(limit * 100.0))),
        "http_reqs" if of == "rate" => Some(format!("rate{sign}{}", digits(limit))),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_and_thresholds_are_read() {
        for (text, seconds) in
            [("1m30s", Some(90.0)), ("500ms", Some(0.5)), ("2h", Some(7200.0)), ("x", None), ("", None)]
        {
            assert_eq!(seconds_of(text), seconds, "{text}");
        }
        for (metric, condition, wanted) in [
            ("http_req_duration", "p(99)<250", Some("p99>=250ms")),
            ("http_req_duration", "avg <= 10.5", Some("mean>10.5ms")),
            ("http_req_failed", "rate<0.01", Some("errors>=1%")),
            ("http_reqs", "rate>100", Some("rate<=100")),
            ("http_req_duration", "p(97)<1", None),
            ("my_trend", "p(99)<1", None),
        ] {
            assert_eq!(fail(metric, condition).as_deref(), wanted, "{metric} {condition}");
        }
    }
}
