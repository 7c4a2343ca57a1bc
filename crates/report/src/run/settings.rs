//! The plan, the host and the versions as rows of names and values.

use crate::{clean, format, words};
use schema::agents::AgentRecord;
use schema::doctor::Severity;
use schema::plan::{LoadPlan, PinPlan, ScenarioPlan, TargetPlan, TargetSource, TlsPlan};
use schema::run::{Instrument, RunFile};

/// A name and its value, both harmless text of one line.
pub(crate) type Row = (String, String);

/// One fact about the host.
#[derive(Clone, Debug)]
pub(crate) struct FactView {
    pub(crate) severity: words::Word,
    pub(crate) title: String,
    pub(crate) value: String,
    pub(crate) effect: String,
    pub(crate) remedy: Option<String>,
    pub(crate) ok: bool,
}

/// The host's facts, those that matter most first.
pub(crate) fn facts(run: &RunFile) -> Vec<FactView> {
    let mut facts: Vec<_> = run.environment.facts.iter().collect();
    facts.sort_by_key(|fact| std::cmp::Reverse(fact.severity));
    facts
        .into_iter()
        .map(|fact| FactView {
            severity: words::severity(fact.severity),
            title: clean::line(&fact.title),
            value: fact.value.as_deref().map_or_else(|| format::NONE.to_owned(), clean::line),
            effect: clean::line(&fact.effect),
            remedy: fact.remedy.as_deref().map(clean::line),
            ok: fact.severity == Severity::Ok,
        })
        .collect()
}

/// Versions of everything that took part.
pub(crate) fn versions(run: &RunFile) -> Vec<Row> {
    run.versions.iter().map(|(name, version)| (clean::line(name), clean::line(version))).collect()
}

/// The settings of the run that are not in the tables already.
pub(crate) fn settings(run: &RunFile) -> Vec<Row> {
    let plan = &run.plan;
    let scenario =
        |scenario: &ScenarioPlan| row("Scenario", format!("{}: {}", scenario.name, scenario.words("")));
    let mut rows: Vec<Row> = plan.scenarios.iter().map(scenario).collect();
    rows.extend([
        row(
            "Design",
            format!(
                "{} of {} in random order",
                format::counted(plan.blocks.into(), "block"),
                format::counted(plan.cells.len() as u64, "cell")
            ),
        ),
        row("Seed", plan.seed.to_string()),
        row(
            "Warm-up",
            format!(
                "{} to {}",
                format::setting(plan.phases.warmup_at_least_ns),
                format::setting(plan.phases.warmup_at_most_ns)
            ),
        ),
        row(
            "Samples",
            format!(
                "{} × {} in each trial, then {} drain",
                plan.phases.samples,
                format::setting(plan.phases.sample_ns),
                format::setting(plan.phases.drain_ns)
            ),
        ),
        row(
            "Margin and confidence",
            format!("±{}, {}", format::chosen_percent(plan.margin), format::chosen_percent(plan.confidence)),
        ),
        row("CPU sets", pinning(&plan.pin)),
    ]);
    for target in &plan.targets {
        rows.push(row("Target", format!("{}: {}", target.name, source(target))));
        if !target.knobs.is_empty() {
            rows.push(row("Knobs", format!("{}: {}", target.name, knobs(target))));
        }
    }
    rows.extend(
        plan.cells
            .iter()
            .map(|cell| row("Cell", format!("{} = {}: {}", cell.id, cell.label, load(&cell.load)))),
    );
    rows.extend(
        run.environment
            .tuned
            .iter()
            .map(|one| row("Tuned", format!("{}: {} instead of {}", one.name, one.new, one.old))),
    );
    let confined = plan.cells.iter().filter(|cell| !cell.limits.is_none());
    rows.extend(confined.map(|cell| row("Limits", format!("{}: {}", cell.id, cell.limits))));
    rows.push(row("Instrument", instrument(&run.instrument)));
    rows.extend(run.agents.iter().map(|one| row("Agent", agent(one))));
    rows
}

/// An agent as the run found it when it began.
fn agent(agent: &AgentRecord) -> String {
    let AgentRecord { facts, clock, .. } = agent;
    format!(
        "{} on {}: {} of every load; {}, Linux {} {}, prony {}; clock known within {}; {}",
        clean::line(&agent.name),
        clean::line(&facts.host),
        format::percent(agent.share),
        format::counted(facts.cpus.into(), "CPU"),
        clean::line(&facts.kernel),
        clean::line(&facts.arch),
        clean::line(&facts.prony),
        format::duration(clock.bound_ns as f64),
        if facts.calibration.is_some() { "calibrated" } else { "not calibrated" },
    )
}

/// A load in words: model, connections, rate, workers.
pub(crate) fn load(load: &LoadPlan) -> String {
    let mut parts = vec![
        words::model(load.model).to_owned(),
        format!(
            "{}{}",
            format::counted(load.connections.into(), "connection"),
            load.connection.stream_words()
        ),
        format::counted(load.workers.into(), "worker"),
    ];
    if load.processes > 1 {
        parts.push(format!("{} processes", format::count(load.processes.into())));
    }
    if let Some(rate) = load.rate_per_s {
        let arrivals = load.arrivals.as_ref().map_or(String::new(), ToString::to_string);
        parts.push(format!("{} {arrivals}", format::rate(rate)).trim().to_owned());
    }
    parts.extend(load.trace.map(|_| format!("trace {}", load.trace_level())));
    parts.extend(load.tls.as_ref().map(tls));
    if let Some(shape) = &load.shape {
        parts.push(format!("shape {}", clean::line(&shape.kind)));
    }
    if let Some(think) = &load.think {
        parts.push(format!("think time {think}"));
    }
    parts.join(", ")
}

/// What of TLS is set, beyond its being there.
fn tls(tls: &TlsPlan) -> String {
    let mut text =
        format!("TLS {}", tls.versions.iter().map(|v| clean::line(v)).collect::<Vec<_>>().join(" or "));
    for (is_set, words) in [
        (!tls.verify, "any certificate"),
        (!tls.resumption, "no resumption"),
        (tls.cert_file.is_some(), "client certificate"),
    ] {
        if is_set {
            text += &format!(", {words}");
        }
    }
    for names in [&tls.ciphers, &tls.groups] {
        if !names.is_empty() {
            text += &format!(", {}", clean::line(&names.join(" or ")));
        }
    }
    text
}

/// Program and arguments as a shell would need them.
#[must_use]
pub fn command_line(command: &[String]) -> String {
    command.iter().map(|word| quoted(&clean::line(word))).collect::<Vec<_>>().join(" ")
}

fn quoted(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_./:=,+@%".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        word.to_owned()
    } else {
        format!("'{}'", word.replace('\'', "'\\''"))
    }
}

fn row(name: &str, value: String) -> Row {
    (name.to_owned(), clean::line(&value))
}

/// `gogc=50, json=std`: all values in force.
fn knobs(target: &TargetPlan) -> String {
    target.knobs.iter().map(|(name, value)| format!("{name}={value}")).collect::<Vec<_>>().join(", ")
}

fn source(target: &TargetPlan) -> String {
    match &target.source {
        TargetSource::Manifest { folder, .. } => format!("built from {folder}"),
        TargetSource::Url { url, .. } => format!("already running at {url}"),
        TargetSource::Command { command, folder, build, .. } => {
            let place = folder.as_ref().map_or_else(String::new, |folder| format!(", in {folder}"));
            let built =
                if build.is_empty() { String::new() } else { format!(", built by {}", command_line(build)) };
            format!("{}{place}{built}", command_line(command))
        }
        TargetSource::Image { image, command, .. } if command.is_empty() => format!("image {image}"),
        TargetSource::Image { image, command, .. } => {
            format!("image {image} with {}", command_line(command))
        }
        TargetSource::Reference { law } => {
            let (mean, burn) = (law.mean.map_or(0, |mean| mean.0), law.burn.map_or(0, |burn| burn.0));
            match burn {
                0 => format!("reference target inside prony, mean service time {}", format::setting(mean)),
                _ => {
                    format!("reference target inside prony, {} of CPU time an answer", format::setting(burn))
                }
            }
        }
    }
}

fn pinning(pin: &PinPlan) -> String {
    let list = |cpus: &Option<Vec<u32>>| match cpus {
        Some(cpus) => cpus.iter().map(u32::to_string).collect::<Vec<_>>().join(","),
        None => "not confined".to_owned(),
    };
    let mut sets = format!("generator {}; target {}", list(&pin.generator), list(&pin.target));
    if pin.services.is_some() {
        sets += &format!("; services {}", list(&pin.services));
    }
    match &pin.weakness {
        Some(weakness) => format!("{sets}; {weakness}"),
        None => sets,
    }
}

fn instrument(instrument: &Instrument) -> String {
    format!(
        "clock step {}, one reading {}; a timed wait of 100 µs wakes {} late (p50), {} (p99)",
        format::nanos(instrument.clock_step_ns),
        format::duration(instrument.clock_read_ns),
        format::nanos(instrument.wake_late_p50_ns),
        format::nanos(instrument.wake_late_p99_ns),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_can_be_pasted_into_a_shell() {
        let words = ["prony", "run", "my file.toml", "it's", ""].map(str::to_owned);
        assert_eq!(command_line(&words), r"prony run 'my file.toml' 'it'\''s' ''");
    }
}
