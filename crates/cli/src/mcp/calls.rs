//! What each tool does: prony's own command in a process of its own, bounded in time and output.

use super::limits::LoadLimits;
use super::tools;
use crate::args::McpArgs;
use anyhow::{Context as _, Result, bail};
use record::{RunFolder, history};
use schema::text::nearest;
use serde_json::Value;
use std::fmt::Write as _;
use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// Runs that are listed where nothing else is asked for.
const RUNS_USUAL: usize = 10;
const RUNS_MAX: usize = 50;
/// Most of an output that is kept; an answer has room for less.
const OUTPUT_BYTES_MAX: u64 = 64 << 10;
/// Longest time of a tool that reads.
const READING_MAX: Duration = Duration::from_secs(60);
/// What a load takes beside its length: connecting, the drain, the report.
const BESIDE_LOAD: Duration = Duration::from_secs(30);
/// Between two looks at a process.
const LOOK: Duration = Duration::from_millis(20);

/// Calls tools for a client.
pub(super) struct Caller {
    binary: PathBuf,
    runs: PathBuf,
    experiments: PathBuf,
    load: Option<LoadLimits>,
}

impl Caller {
    pub(super) fn new(args: &McpArgs) -> Result<Self> {
        Ok(Self {
            binary: std::env::current_exe().context("cannot find prony's own binary")?,
            runs: args.runs.clone(),
            experiments: args.experiments.clone(),
            load: args.allow_load.then(|| LoadLimits::new(args)),
        })
    }

    pub(super) const fn may_load(&self) -> bool {
        self.load.is_some()
    }

    /// What a tool says.
    ///
    /// # Errors
    /// An argument that is none, or the command's own error.
    pub(super) fn call(&self, tool: &str, asked: &Value) -> Result<String> {
        tools::check(tool, asked)?;
        match tool {
            "runs" => self.list(asked),
            "report" => self.reading(&["report", &self.run(&asked["run"])?, "--format", "markdown"]),
            "why" => self.reading(&["why", &self.run(&asked["run"])?]),
            "compare" => self.reading(&["compare", &self.run(&asked["a"])?, &self.run(&asked["b"])?]),
            "plan" => {
                let runs = self.runs.display().to_string();
                self.reading(&["plan", &self.experiment(&asked["experiment"])?, "--runs", &runs])
            }
            _ => match &self.load {
                Some(limits) => {
                    let arguments = limits.arguments(asked)?;
                    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
                    let longest = Duration::from_nanos(limits.duration_max().0) + BESIDE_LOAD;
                    self.prony(&arguments, longest)
                }
                None => bail!("`load` was not allowed when `prony mcp` was started"),
            },
        }
    }

    fn reading(&self, arguments: &[&str]) -> Result<String> {
        self.prony(arguments, READING_MAX)
    }

    /// The newest runs.
    fn list(&self, asked: &Value) -> Result<String> {
        let limit =
            asked["limit"].as_u64().map_or(RUNS_USUAL, |limit| limit.clamp(1, RUNS_MAX as u64) as usize);
        let folders = history::folders(&self.runs)?;
        let mut text = format!("{} runs in all, the newest first\n", folders.len());
        for path in folders.iter().rev().take(limit) {
            let name = path.file_name().unwrap_or_default().to_string_lossy();
            let _ = match RunFolder::open(path).and_then(|folder| Ok((folder.read_run()?, folder))) {
                Ok((run, folder)) => {
                    let ended =
                        run.plan.order.iter().filter(|trial| folder.trial(trial.id).has_ended()).count();
                    let question = report::clean_line(&run.plan.question);
                    writeln!(text, "{name}: {question} ({ended} of {} trials ended)", run.plan.order.len())
                }
                Err(error) => {
                    writeln!(text, "{name}: cannot be read: {}", report::clean_line(&error.to_string()))
                }
            };
        }
        Ok(text)
    }

    /// The path of a run that is listed.
    fn run(&self, asked: &Value) -> Result<String> {
        listed(asked, &history::folders(&self.runs)?, "run", "call `runs` for their names")
    }

    /// The path of an experiment that is there.
    fn experiment(&self, asked: &Value) -> Result<String> {
        let entries = std::fs::read_dir(&self.experiments)
            .with_context(|| format!("cannot read {}", self.experiments.display()))?;
        let mut files: Vec<PathBuf> = entries.filter_map(|entry| Some(entry.ok()?.path())).collect();
        files.retain(|path| path.extension().is_some_and(|ending| ending == "toml"));
        files.sort();
        listed(asked, &files, "experiment", "name a file of the folder without .toml")
    }

    /// Runs a command to its end, and gives what it printed. An exit code that says what was found is no error.
    fn prony(&self, arguments: &[&str], longest: Duration) -> Result<String> {
        let mut child = Command::new(&self.binary)
            // A client that is gone watches over no load.
            .arg("--with-parent")
            .args(arguments)
            .env("NO_COLOR", "1")
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .context("cannot start prony")?;
        let output = child.stdout.take().map(kept);
        let errors = child.stderr.take().map(kept);
        let end = Instant::now() + longest;
        let status = loop {
            if let Some(status) = child.try_wait().context("cannot wait for prony")? {
                break status;
            }
            if Instant::now() >= end {
                let _ = child.kill();
                let _ = child.wait();
                bail!("it took longer than {} s, and was ended", longest.as_secs());
            }
            std::thread::sleep(LOOK);
        };
        let text = |thread: Option<std::thread::JoinHandle<String>>| {
            thread.and_then(|thread| thread.join().ok()).unwrap_or_default()
        };
        let (output, errors) = (text(output), text(errors));
        if output.trim().is_empty() {
            bail!("{}", if errors.trim().is_empty() { format!("it ended with {status}") } else { errors });
        }
        Ok(match status.code() {
            Some(0) => output,
            _ => format!("{output}\n{}", errors.trim_end()),
        })
    }
}

/// Reads to the end, so that nobody waits, and keeps the begin.
fn kept(mut from: impl std::io::Read + Send + 'static) -> std::thread::JoinHandle<String> {
    std::thread::spawn(move || {
        let mut kept = Vec::new();
        let _ = (&mut from).take(OUTPUT_BYTES_MAX).read_to_end(&mut kept);
        let _ = std::io::copy(&mut from, &mut std::io::sink());
        String::from_utf8_lossy(&kept).into_owned()
    })
}

/// A text of the client for a message.
pub(super) fn short(text: &str) -> String {
    format!("`{}`", text.chars().filter(|c| !c.is_control()).take(60).collect::<String>())
}

/// A path of a list whose name, with or without its ending, is that which is asked for.
fn listed(asked: &Value, paths: &[PathBuf], what: &str, remedy: &str) -> Result<String> {
    let wanted = asked.as_str().unwrap_or_default();
    let name =
        |path: &Path| path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    let is_wanted = |path: &&PathBuf| {
        let name = name(path);
        !wanted.is_empty() && (name == wanted || name.strip_suffix(".toml") == Some(wanted))
    };
    if let Some(found) = paths.iter().find(is_wanted) {
        return Ok(found.display().to_string());
    }
    let names: Vec<String> = paths.iter().map(|path| name(path)).collect();
    let near = nearest(wanted, names.iter().map(String::as_str));
    let near = near.map_or_else(|| remedy.to_owned(), |near| format!("did you mean `{near}`? Else {remedy}"));
    bail!("there is no {what} {}\n  remedy: {near}", short(wanted))
}
