//! `prony ledger`: published claims against the runs made here, and the runs that are missing.

use crate::args::{LedgerArgs, LedgerCommand, LedgerFormat, LedgerRunArgs, PageLang};
use crate::{exit, interrupt, output};
use ::ledger::{Answered, Todo, answered, studies, todo};
use analyze::Past;
use anyhow::{Context as _, Result, bail};
use plan::Context;
use record::write_whole;
use report::Lang;
use schema::ledger::LedgerFile;
use schema::plan::ExperimentPlan;
use schema::study::StudyFile;
use schema::text::nearest;
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Stdio};
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};
use units::Nanos;

/// Longest short run, unless another time is asked for.
const SHORT_BUDGET: Nanos = Nanos::from_secs(3600);
/// Starting and stopping a target and checking its contract, for a trial of which no earlier run tells more.
const AROUND_TRIAL_S: f64 = 2.0;

pub(crate) fn ledger(args: &LedgerArgs) -> Result<u8> {
    match &args.command {
        None => show(args),
        Some(LedgerCommand::Run(run)) => run_missing(args, run),
    }
}

/// The ledger as it now is.
fn current(args: &LedgerArgs) -> Result<LedgerFile> {
    let studies = chosen(args)?;
    let (runs, notes): (Vec<Answered>, Vec<String>) = answered(&args.place.runs);
    Ok(::ledger::ledger(&studies, &runs, notes))
}

fn chosen(args: &LedgerArgs) -> Result<Vec<StudyFile>> {
    let mut all = studies(&args.place.studies)?;
    let Some(article) = &args.place.article else { return Ok(all) };
    let names: Vec<String> = all.iter().map(|study| study.article.clone()).collect();
    all.retain(|study| study.article == *article);
    if all.is_empty() {
        let remedy = match nearest(article, names.iter().map(String::as_str)) {
            Some(near) => format!("did you mean `{near}`?"),
            None => format!("name one of: {}", names.join(", ")),
        };
        bail!("there is no study of article {article}\n  remedy: {remedy}");
    }
    Ok(all)
}

fn show(args: &LedgerArgs) -> Result<u8> {
    let ledger = current(args)?;
    if let Some(folder) = &args.write {
        write(folder, &ledger)?;
    }
    let lang = lang(args.lang);
    let file = args.output.as_deref();
    let text = match args.format {
        LedgerFormat::Text => report::ledger_text(&ledger, lang, output::style(file)),
        LedgerFormat::Json => schema::json::pretty(&ledger)?,
        LedgerFormat::Markdown => report::ledger_markdown(&ledger, lang),
        LedgerFormat::Csv => report::ledger_csv(&ledger, lang)?,
        LedgerFormat::Html => report::ledger_html(&ledger, lang)?,
    };
    output::write(file, &text)?;
    Ok(exit::DONE)
}

const fn lang(lang: PageLang) -> Lang {
    match lang {
        PageLang::En => Lang::En,
        PageLang::Zh => Lang::Zh,
    }
}

/// All formats in both languages.
fn write(folder: &Path, ledger: &LedgerFile) -> Result<()> {
    std::fs::create_dir_all(folder).with_context(|| format!("cannot make {}", folder.display()))?;
    let put = |name: &str, text: &str| write_whole(&folder.join(name), text.as_bytes());
    put("ledger.json", &schema::json::pretty(ledger)?)?;
    for (lang, ending) in [(Lang::En, ""), (Lang::Zh, ".zh")] {
        put(&format!("ledger{ending}.html"), &report::ledger_html(ledger, lang)?)?;
        put(&format!("ledger{ending}.md"), &report::ledger_markdown(ledger, lang))?;
        put(&format!("ledger{ending}.csv"), &report::ledger_csv(ledger, lang)?)?;
    }
    Ok(())
}

fn run_missing(args: &LedgerArgs, wanted: &LedgerRunArgs) -> Result<u8> {
    let mut unread = Vec::new();
    let missing = missing(args, wanted.short, &mut unread)?;
    unread.iter().for_each(|cause| output::say!("left out {cause}"));
    let budget = wanted.budget.or(wanted.short.then_some(SHORT_BUDGET));
    let budget_s = budget.map_or(f64::INFINITY, |budget| budget.0 as f64 / 1e9);
    let (fitting, left) = within(&missing, budget_s);
    output::write(None, &planned(&fitting, &left))?;
    if wanted.dry_run {
        return Ok(exit::DONE);
    }
    let code = run_within(args, wanted, &missing, budget_s)?;
    let ledger = current(args)?;
    output::write(None, &report::ledger_text(&ledger, lang(args.lang), output::style(None)))?;
    if let Some(folder) = &args.write {
        write(folder, &ledger)?;
    }
    Ok(code.max(if unread.is_empty() { exit::DONE } else { exit::FAILED }))
}

/// The experiments that are to be run; `unread` gets those whose file cannot be read, with the cause.
fn missing(args: &LedgerArgs, short: bool, unread: &mut Vec<String>) -> Result<Vec<Todo>> {
    Ok(todo(&current(args)?, !short, |name| match planned_as(args, short, name) {
        Ok(plan) => Some(seconds(&plan)),
        Err(error) => {
            unread.push(format!("{name}: {error:#}"));
            None
        }
    }))
}

/// What fits into the budget by the longest times, in order; one that is too long leaves room for the shorter ones after it.
fn within(missing: &[Todo], budget_s: f64) -> (Vec<&Todo>, Vec<&Todo>) {
    let mut left_s = budget_s;
    missing.iter().partition(|todo| {
        let fits = todo.seconds <= left_s;
        left_s -= if fits { todo.seconds } else { 0.0 };
        fits
    })
}

fn planned(fitting: &[&Todo], left: &[&Todo]) -> String {
    let minutes: f64 = fitting.iter().map(|todo| todo.seconds).sum::<f64>() / 60.0;
    let mut text = format!("experiments to run: {}, {minutes:.0} minutes at most\n", fitting.len());
    text.extend(fitting.iter().map(|todo| line(todo)));
    if !left.is_empty() {
        text += "begun only where the time of those before leaves room for them\n";
        text.extend(left.iter().map(|todo| line(todo)));
    }
    text
}

fn line(todo: &Todo) -> String {
    let claims: Vec<String> = todo.claims.iter().map(u32::to_string).collect();
    format!("  {:>4.0} min  {}: claims {}\n", todo.seconds / 60.0, todo.experiment, claims.join(", "))
}

fn seconds(plan: &ExperimentPlan) -> f64 {
    plan::longest_ns(plan) / 1e9 + AROUND_TRIAL_S * plan.order.len() as f64
}

/// An experiment by its name, `experiments/NAME.toml` beside the folder of the studies: its file and text.
fn experiment(args: &LedgerArgs, name: &str) -> Result<(PathBuf, String)> {
    let root = args.place.studies.parent().filter(|root| !root.as_os_str().is_empty());
    let file = root.unwrap_or(Path::new(".")).join("experiments").join(format!("{name}.toml"));
    let text = std::fs::read_to_string(&file).with_context(|| format!("cannot read {}", file.display()))?;
    Ok((file, text))
}

fn planned_as(args: &LedgerArgs, short: bool, name: &str) -> Result<ExperimentPlan> {
    let (file, text) = experiment(args, name)?;
    let usable_cpus = launch::pin::usable_cpus()?;
    let context = Context { project: plan::project_above(&file), usable_cpus, pin: None };
    let mut plan = plan::experiment(&file.display().to_string(), &text, &context)?;
    if short {
        plan::short(&mut plan);
    }
    Ok(plan)
}

/// All that is missing; what is left of the hour then goes to whole runs of what short ones have left undecided.
fn run_within(args: &LedgerArgs, wanted: &LedgerRunArgs, first: &[Todo], budget_s: f64) -> Result<u8> {
    let stop = interrupt::stop_flag()?;
    let time = Time { begun: Instant::now(), budget_s, stop: &stop };
    let code = run_all(args, wanted, first, wanted.short, time)?;
    if !wanted.short || code == exit::INTERRUPTED {
        return Ok(code);
    }
    let mut again = missing(args, false, &mut Vec::new())?;
    again.retain(|todo| todo.undecided > 0 && time.is_enough_for(todo));
    if again.is_empty() {
        return Ok(code);
    }
    output::say!("\nthe time that is left goes to whole runs of what is undecided");
    Ok(code.max(run_all(args, wanted, &again, false, time)?))
}

/// How long may be run, unless somebody ends it before.
#[derive(Clone, Copy)]
struct Time<'a> {
    begun: Instant,
    budget_s: f64,
    stop: &'a AtomicBool,
}

impl Time<'_> {
    fn is_enough_for(self, todo: &Todo) -> bool {
        is_in_time(todo, self.begun.elapsed(), self.budget_s)
    }
}

/// One experiment after the other, while there is time for the longest that it can take. One that cannot be run does not
/// stop the rest.
fn run_all(
    args: &LedgerArgs,
    wanted: &LedgerRunArgs,
    missing: &[Todo],
    short: bool,
    time: Time,
) -> Result<u8> {
    let mut code = exit::DONE;
    let mut left = String::new();
    for (at, todo) in missing.iter().enumerate() {
        if !time.is_enough_for(todo) {
            left += &line(todo);
            continue;
        }
        output::say!(
            "\n{} of {}: {}, after {} min",
            at + 1,
            missing.len(),
            todo.experiment,
            time.begun.elapsed().as_secs() / 60
        );
        let status = run_one(args, wanted, short, &todo.experiment, time.stop)?;
        match status.code().and_then(|code| u8::try_from(code).ok()) {
            Some(exit::INTERRUPTED) => {
                output::say!("interrupted: the same command goes on with {}", todo.experiment);
                return Ok(exit::INTERRUPTED);
            }
            // The verdicts say what the numbers are worth.
            Some(exit::DONE | exit::FAILED | exit::CLAIM) => {}
            _ => {
                output::say!("{} could not be run ({status})", todo.experiment);
                code = exit::FAILED;
            }
        }
    }
    if !left.is_empty() {
        output::say_text(&format!("left out by the budget\n{left}"));
    }
    Ok(code)
}

fn is_in_time(todo: &Todo, spent: Duration, budget_s: f64) -> bool {
    spent.as_secs_f64() + todo.seconds <= budget_s
}

/// Goes on with a run of this kind that was broken off, or begins one: in a process of its own, because a run confines the
/// process that makes it to the generator's CPUs. A signal that ends this process ends the run, which keeps what it has.
fn run_one(
    args: &LedgerArgs,
    wanted: &LedgerRunArgs,
    short: bool,
    name: &str,
    stop: &AtomicBool,
) -> Result<ExitStatus> {
    let (file, text) = experiment(args, name)?;
    let mut command = Command::new(std::env::current_exe().context("cannot find prony's own binary")?);
    command.args(["--with-parent", "run"]).stdin(Stdio::null()).stdout(Stdio::null()).process_group(0);
    match broken_off(&args.place.runs, name, short, &text) {
        Some(folder) => {
            output::say!("going on with {}", folder.display());
            command.arg("--resume").arg(folder);
        }
        None => {
            command.arg(&file).arg("--runs").arg(&args.place.runs);
            if short {
                command.arg("--short");
            }
        }
    }
    for host in &wanted.consent {
        command.args(["--consent", host]);
    }
    let mut run = command.spawn().with_context(|| format!("cannot start the run of {name}"))?;
    interrupt::wait_for(&mut run, stop).with_context(|| format!("cannot wait for the run of {name}"))
}

/// The newest run of the same file and length that has trials left.
fn broken_off(runs: &Path, name: &str, short: bool, text: &str) -> Option<PathBuf> {
    let found = record::history::runs(runs, Some(name)).ok()?.runs;
    let is_open = |past: &&Past| {
        let is_whole = past.trials.len() >= past.run.plan.order.len();
        past.run.plan.short == short && !is_whole && past.run.experiment_text == text
    };
    found.iter().rfind(is_open).map(|past| runs.join(&past.run.id))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn todo_of(name: &str, seconds: f64) -> Todo {
        Todo { experiment: name.into(), claims: vec![1], undecided: 1, seconds }
    }

    #[test]
    fn the_budget_leaves_out_what_is_too_long_and_says_so() {
        let missing = [todo_of("a", 60.0), todo_of("long", 6_000.0), todo_of("b", 120.0)];
        let (fitting, left) = within(&missing, 200.0);
        let names = |all: &[&Todo]| all.iter().map(|todo| todo.experiment.clone()).collect::<Vec<_>>();
        assert_eq!((names(&fitting), names(&left)), (vec!["a".into(), "b".into()], vec!["long".into()]));
        let text = planned(&fitting, &left);
        assert!(text.contains("experiments to run: 2, 3 minutes at most"), "{text}");
        assert!(text.contains("leaves room for them\n   100 min  long: claims 1"), "{text}");
        assert_eq!(within(&missing, f64::INFINITY).1.len(), 0);
        // What ran faster than it could have leaves time.
        assert!(is_in_time(&missing[2], Duration::from_secs(80), 200.0));
        assert!(!is_in_time(&missing[2], Duration::from_secs(81), 200.0));
    }
}
