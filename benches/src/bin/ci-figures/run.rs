//! One run of `prony ci` after the other, each watched until it ends.

use crate::LOOK;
use crate::args::Settings;
use crate::row::{Kind, Made, Row};
use crate::shop::{BASE, Shop};
use crate::steal::Steal;
use rustix::process::{Pid, Signal, kill_process};
use serde::de::DeserializeOwned;
use std::error::Error;
use std::fs::{self, File};
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};
use units::{Nanos, Seed};

/// An interrupted prony ends its targets and removes its trees within this time, or is killed.
const PATIENCE: Duration = Duration::from_secs(30);
/// Exit code of wrong arguments or a wrong file.
const USAGE: i32 = 1;

/// What all runs share.
pub(crate) struct Bench<'a> {
    settings: &'a Settings,
    out: &'a Path,
    shop: Shop,
}

impl<'a> Bench<'a> {
    /// Makes the repository.
    ///
    /// # Errors
    /// It cannot be made.
    pub(crate) fn new(settings: &'a Settings, out: &'a Path) -> Result<Self, Box<dyn Error>> {
        Ok(Self { settings, out, shop: Shop::new(settings)? })
    }

    /// Runs prony once; `None` where the end was wanted before it came.
    ///
    /// # Errors
    /// Prony cannot be started or refuses what it is asked.
    pub(crate) fn run(
        &self,
        number: u32,
        kind: Kind,
        wants_end: impl Fn() -> bool,
    ) -> Result<Option<Row>, Box<dyn Error>> {
        let seed = Seed(self.settings.seed).derive("ci-figures.run", number.into());
        let (runs, said) = (self.shop.at("runs"), self.shop.at("said.txt"));
        let experiment = self.shop.at("experiment.toml");
        // Seeds of a file are signed.
        let text = self.settings.experiment.replace("{seed}", &(seed.0 >> 1).to_string());
        fs::write(&experiment, text)?;
        let said_file = File::create(&said)?;
        let steal = Steal::start(self.settings.steal, seed)?;
        let begin = Instant::now();
        let mut child = self
            .command(kind, &runs, &experiment)
            .stdout(said_file.try_clone()?)
            .stderr(said_file)
            .spawn()
            .map_err(|error| format!("cannot start {}: {error}", self.settings.prony.display()))?;
        let status = wait(&mut child, wants_end)?;
        drop(steal);
        let row = status.map(|status| {
            let made = Made {
                number,
                kind,
                seed: seed.0,
                ended: jiff::Timestamp::now().strftime("%Y-%m-%dT%H:%M:%SZ").to_string(),
                code: status.code(),
                seconds: begin.elapsed().as_secs_f64(),
            };
            read(made, &runs)
        });
        if let Some(row) = &row {
            if row.code == Some(USAGE) {
                return Err(format!("prony ci refuses it: {}", fs::read_to_string(&said)?).into());
            }
            if row.verdict.is_none() || (row.kind == Kind::Equal && row.is_alarm()) {
                self.keep(number, &runs, &said)?;
            }
        }
        if runs.exists() {
            fs::remove_dir_all(&runs)?;
        }
        Ok(row)
    }

    fn command(&self, kind: Kind, runs: &Path, experiment: &Path) -> Command {
        let mut command = Command::new(&self.settings.prony);
        command
            .args(["ci", "--base", BASE, "--head", kind.name()])
            .args(["--budget", &Nanos(self.settings.budget_ns).to_string(), "--pin", &self.settings.pin])
            .arg("--runs")
            .arg(runs)
            .arg(experiment)
            .current_dir(self.shop.at("repository"))
            .env("PRONY", &self.settings.prony)
            .env("TMPDIR", self.shop.at("tmp"))
            // No calibration of this host: it may come or go while the runs are made.
            .env("XDG_STATE_HOME", self.shop.at("tmp"))
            .stdin(Stdio::null())
            // Ctrl-C reaches it through this process alone: a second one would leave its trees behind.
            .process_group(0);
        command
    }

    /// Keeps the run folder and what was said of a run that was wrong.
    fn keep(&self, number: u32, runs: &Path, said: &Path) -> Result<(), Box<dyn Error>> {
        let place = self.out.join("kept").join(format!("{number:04}"));
        fs::create_dir_all(&place)?;
        fs::copy(said, place.join("said.txt"))?;
        if let Some(run) = folder_in(runs) {
            copy(&run, &place.join("run"))?;
        }
        Ok(())
    }
}

/// Waits for its end; `None` where it was ended because that was wanted.
fn wait(child: &mut Child, wants_end: impl Fn() -> bool) -> Result<Option<ExitStatus>, Box<dyn Error>> {
    while !wants_end() {
        if let Some(status) = child.try_wait()? {
            return Ok(Some(status));
        }
        sleep(LOOK);
    }
    if let Some(pid) = i32::try_from(child.id()).ok().and_then(Pid::from_raw) {
        let _ = kill_process(pid, Signal::INT);
    }
    let last = Instant::now() + PATIENCE;
    while child.try_wait()?.is_none() {
        if Instant::now() > last {
            child.kill()?;
        }
        sleep(LOOK);
    }
    Ok(None)
}

/// What the run left.
fn read(made: Made, runs: &Path) -> Row {
    let files = folder_in(runs).and_then(|run| Some((json(&run, "ci.json")?, json(&run, "analysis.json")?)));
    match files {
        Some((answer, analysis)) => Row::of(made, &answer, &analysis),
        None => Row::without_answer(made),
    }
}

/// The one run folder.
fn folder_in(runs: &Path) -> Option<PathBuf> {
    let entries = fs::read_dir(runs).ok()?.flatten().map(|entry| entry.path());
    entries.into_iter().find(|path| path.join("run.json").is_file())
}

fn json<T: DeserializeOwned>(run: &Path, name: &str) -> Option<T> {
    serde_json::from_slice(&fs::read(run.join(name)).ok()?).ok()
}

fn copy(from: &Path, to: &Path) -> std::io::Result<()> {
    fs::create_dir_all(to)?;
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        let place = to.join(entry.file_name());
        match entry.file_type()?.is_dir() {
            true => copy(&entry.path(), &place)?,
            false => fs::copy(entry.path(), place).map(drop)?,
        }
    }
    Ok(())
}
