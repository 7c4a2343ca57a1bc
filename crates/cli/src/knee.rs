//! `prony knee`: a ladder or a search, from a file or a URL. A URL becomes the text of an experiment file first, so that
//! both go one way, and the run folder has a text that others can run.

use crate::args::KneeArgs;
use crate::environment::environment;
use crate::monitor::Monitor;
use crate::progress::RunProgress;
use crate::{calibrate, exit, fleet, run, screen};
use anyhow::{Context as _, Result, bail};
use plan::net::HttpUrl;
use plan::{CONFIRMATIONS, Context, KneeWishes, Levels, SearchWishes, TOLERANCE, defaults};
use schema::said::Said;
use std::fmt::Write as _;
use std::path::Path;
use units::{Count, Nanos, PerSecond};

/// Where a search of a URL begins.
const START: PerSecond = PerSecond(100.0);
/// Phases for a URL: p95 needs 6,000 requests in a trial.
const SAMPLE: Nanos = Nanos::from_secs(10);
const WARMUP: (Nanos, Nanos) = (Nanos::from_secs(2), Nanos::from_secs(10));

pub(crate) fn knee(args: &KneeArgs) -> Result<u8> {
    plan::processes::raise_descriptor_limit();
    let usable_cpus = launch::pin::usable_cpus()?;
    let subject = subject(args)?;
    let context = Context {
        project: plan::project_above(Path::new(&subject.name)),
        usable_cpus,
        pin: args.pin.clone(),
    };
    let mut wishes = wishes(args)?;
    let mut plan = plan::capacity(&subject.name, &subject.text, &context, &wishes)?;
    let mut limit = calibrate::limit_of_plan(&plan, &context.usable_cpus);
    // Beyond what the generator can offer a search would only find the generator. Of agents elsewhere that is not known.
    let is_known = fleet::is_of_this_host(args.fleet.as_deref())?;
    let bound = limit.as_ref().and_then(|limit| limit.max_rate_per_s).filter(|_| is_known);
    if let (Some(search), Some(bound)) = (&mut wishes.search, bound)
        && search.max_rate.is_none()
    {
        search.max_rate = Some(PerSecond(bound.floor().max(1.0)));
        plan = plan::capacity(&subject.name, &subject.text, &context, &wishes)?;
        limit = calibrate::limit_of_plan(&plan, &context.usable_cpus);
    }
    if let Some(capacity) = &mut plan.capacity {
        capacity.notes.extend(subject.note);
        capacity.notes.iter().for_each(|note| crate::output::say!("note: {note}"));
    }
    fleet::enlist_all(&mut plan, args.fleet.as_deref())?;
    if args.dry_run {
        run::print_plan(&plan, limit.as_ref(), (args.format, &args.runs))?;
        return Ok(exit::DONE);
    }
    let mut monitor = Monitor::begin(&args.monitor, &args.consent, &args.runs)?;
    let environment = environment(&args.runs, &args.consent, limit)?;
    let mut progress = RunProgress::new(screen::is_live());
    let outcome = runner::run(plan, &subject.text, &context, &environment, &mut progress);
    progress.finish();
    let outcome = outcome?;
    monitor.end(outcome.folder.path());
    run::finish(&outcome, args.format, None)
}

fn wishes(args: &KneeArgs) -> Result<KneeWishes> {
    let levels = match (args.ladder.as_slice(), args.rates.as_slice()) {
        ([], []) => None,
        ([], rates) => Some(Levels::Rates(rates.to_vec())),
        (connections, _) => Some(Levels::Connections(connections.to_vec())),
    };
    if args.blocks == Some(0) {
        bail!("--blocks 0 would measure nothing; give at least 1");
    }
    Ok(KneeWishes {
        levels,
        order: args.order.into(),
        blocks: args.blocks,
        seed: args.seed,
        sample: args.duration,
        warmup: args.warmup,
        budget: args.budget,
        search: args.objective.clone().map(|objective| SearchWishes {
            objective,
            max_rate: args.max_rate,
            tolerance: TOLERANCE,
            confirmations: CONFIRMATIONS,
        }),
    })
}

/// The text that is resolved.
struct Subject {
    /// The file, or what stands for it in messages.
    name: String,
    text: String,
    note: Option<Said>,
}

fn subject(args: &KneeArgs) -> Result<Subject> {
    let path = Path::new(&args.subject);
    let is_file = path.is_file() || path.extension().is_some_and(|ending| ending == "toml");
    if is_file {
        if args.connections.is_some() {
            bail!("-c is for a URL; a file says its connections under [load]");
        }
        let text =
            std::fs::read_to_string(path).with_context(|| format!("cannot read {}", path.display()))?;
        return Ok(Subject { name: args.subject.clone(), text, note: None });
    }
    let url = HttpUrl::parse(&args.subject).map_err(runner::RunnerError::from)?;
    let address = url.resolve(&args.consent).map_err(runner::RunnerError::from)?;
    let (text, note) = experiment_of(args, &url, address.ip());
    Ok(Subject { name: format!("the ladder of {}", url.origin()), text, note })
}

/// The experiment file that a URL stands for.
fn experiment_of(args: &KneeArgs, url: &HttpUrl, address: std::net::IpAddr) -> (String, Option<Said>) {
    let plain = |c: char| if c.is_ascii_alphanumeric() { c } else { '-' };
    let host: String = url.host.chars().take(40).map(plain).collect();
    let mut text = format!(
        "# Made by `prony knee`.\n[experiment]\nname = \"knee-{host}-{}\"\n\n[[target]]\nurl = {}\n\n\
         [scenario]\nrequest = {{ path = {} }}\n\n[load]\n",
        url.port,
        quoted(&url.origin()),
        quoted(&url.path)
    );
    let mut note = None;
    if args.objective.is_some() || !args.rates.is_empty() {
        let rates = if args.rates.is_empty() { &[START][..] } else { &args.rates };
        let rates: Vec<String> = rates.iter().map(|rate| rate.0.to_string()).collect();
        let _ = writeln!(text, "model = \"open\"\nrate = [{}]", rates.join(", "));
        match args.connections {
            Some(Count(connections)) => _ = writeln!(text, "connections = {connections}"),
            None => _ = writeln!(text, "max_connections = {}", defaults::GROWTH.0),
        }
    } else {
        let (usual, left_out) = plan::ports::usual_ladder(address);
        note = left_out.filter(|_| args.ladder.is_empty());
        let levels = if args.ladder.is_empty() { usual } else { args.ladder.clone() };
        let levels: Vec<String> = levels.iter().map(|level| level.0.to_string()).collect();
        let _ = writeln!(text, "model = \"closed\"\nconnections = [{}]", levels.join(", "));
    }
    let (at_least, at_most) = args.warmup.map_or(WARMUP, |warmup| (warmup, warmup));
    let _ = writeln!(
        text,
        "\n[phases]\nwarmup = {{ at_least = \"{at_least}\", at_most = \"{at_most}\" }}\nsample = \"{}\"\nsamples = 1",
        args.duration.unwrap_or(SAMPLE)
    );
    (text, note)
}

/// A TOML string: that of JSON is one, as JSON escapes what TOML wants escaped, but for DEL.
fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string().replace('\u{7f}', "\\u007f")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_quoted_as_toml_wants_them() {
        assert_eq!(quoted("/a\"b\\c\n\u{7f}"), r#""/a\"b\\c\n\u007f""#);
    }
}
