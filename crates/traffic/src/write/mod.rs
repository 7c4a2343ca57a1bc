//! Writes what a model says: a scenario that is the mix, an experiment whose load is the arrivals, and their files.
//!
//! ```text
//! DIR/scenarios/NAME.toml           one request for each route, weighted
//! DIR/scenarios/NAME-paths/rN.txt   real targets of a route whose paths vary
//! DIR/experiments/NAME.toml         open load: fitted law and shape, or recorded times
//! DIR/recordings/NAME.txt           the times, one a line
//! ```
//!
//! Invariants: both TOML files are read back by `schema` before they are written, so that what is written can be run;
//! nothing of a log gets into a file unescaped; files are written whole.
//! Absent on purpose: request bodies and headers, which no access log has; this is reported.

mod experiment;
mod scenario;

pub(crate) use experiment::CONNECTIONS_MAX;
pub(crate) use scenario::step_of;

use crate::TrafficError;
use crate::model::Model;
use crate::times;
use crate::verdict::{Advice, Verdict};
use schema::experiment::ExperimentFile;
use schema::scenario::ScenarioFile;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use units::Seed;

/// Most times that a recording may hold: what the runner reads.
pub const TIMES_MAX: usize = 50_000_000;

/// A file to be written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OutFile {
    /// Relative to the output folder.
    pub path: PathBuf,
    /// Its text.
    pub text: String,
}

/// What a model becomes.
#[derive(Clone, Debug)]
pub struct Written {
    /// The files.
    pub files: Vec<OutFile>,
    /// The experiment among them.
    pub experiment: PathBuf,
    /// What a user must know before running it.
    pub notes: Vec<String>,
}

/// The files of a model. `name` becomes part of their names: letters, digits, `-` and `_`; all else becomes `-`.
///
/// # Errors
/// [`TrafficError::TooMuch`] where what was made cannot be read back, which is a fault of prony.
pub fn files(
    model: &Model,
    verdict: &Verdict,
    advice: Advice,
    name: &str,
    url: &str,
    seed: Seed,
) -> Result<Written, TrafficError> {
    let name = slug(name);
    let mut notes = Vec::new();
    let mut files = scenario::files(model, &name, &mut notes);
    let connections_max = CONNECTIONS_MAX;
    let experiment = Experiment { model, verdict, what: "requests", connections_max, name: &name, url };
    files.extend(experiment.files(advice, seed, &mut notes));
    checked(files, &name, notes)
}

/// What an experiment's arrivals come from.
pub(crate) struct Experiment<'a> {
    /// Of requests, or of the begins of sessions.
    pub(crate) model: &'a Model,
    pub(crate) verdict: &'a Verdict,
    /// What arrives, for people.
    pub(crate) what: &'static str,
    /// The most connections that the load may open.
    pub(crate) connections_max: u64,
    pub(crate) name: &'a str,
    pub(crate) url: &'a str,
}

impl Experiment<'_> {
    /// The experiment, and its recording where the times are replayed.
    pub(crate) fn files(&self, advice: Advice, seed: Seed, notes: &mut Vec<String>) -> Vec<OutFile> {
        let mut files = Vec::new();
        let fitted = self.verdict.arrivals.as_ref().filter(|_| advice == Advice::Fitted);
        if fitted.is_none() {
            let recorded = recorded_times(self.model, seed, notes);
            files.push(OutFile {
                path: recording(self.name),
                text: times_text(&recorded, self.model.begin_ns),
            });
        }
        files.push(OutFile { path: experiment_path(self.name), text: experiment::text(self, fitted) });
        files
    }
}

fn experiment_path(name: &str) -> PathBuf {
    PathBuf::from(format!("experiments/{name}.toml"))
}

/// What was made, read back.
pub(crate) fn checked(files: Vec<OutFile>, name: &str, notes: Vec<String>) -> Result<Written, TrafficError> {
    files.iter().try_for_each(check)?;
    Ok(Written { files, experiment: experiment_path(name), notes })
}

/// Reads back what is to be written.
fn check(file: &OutFile) -> Result<(), TrafficError> {
    let shown = file.path.display().to_string();
    let read = match file.path.parent().and_then(Path::to_str) {
        Some("scenarios") => ScenarioFile::from_toml(&shown, &file.text).map(|_| ()),
        Some("experiments") => ExperimentFile::from_toml(&shown, &file.text).map(|_| ()),
        _ => Ok(()),
    };
    read.map_err(|error| TrafficError::TooMuch {
        cause: format!("the file that was made cannot be read back: {error}"),
        remedy: "report this as a fault of prony, with the log's first lines",
    })
}

/// Writes the files under `folder`, making it where needed.
///
/// # Errors
/// [`TrafficError::Io`].
pub fn write(written: &Written, folder: &Path) -> Result<(), TrafficError> {
    for file in &written.files {
        write_whole(&folder.join(&file.path), file.text.as_bytes())?;
    }
    Ok(())
}

/// Writes beside the file first, so that a broken attempt leaves none.
pub(crate) fn write_whole(path: &Path, bytes: &[u8]) -> Result<(), TrafficError> {
    if let Some(folder) = path.parent() {
        std::fs::create_dir_all(folder).map_err(TrafficError::io("make the folder of", path))?;
    }
    let part = path.with_extension("part");
    std::fs::write(&part, bytes).map_err(TrafficError::io("write", &part))?;
    std::fs::rename(&part, path).map_err(TrafficError::io("write", path))
}

fn recording(name: &str) -> PathBuf {
    PathBuf::from(format!("recordings/{name}.txt"))
}

/// The times of a log since its begin: as fine as its bins are, spread within them.
#[must_use]
pub fn recorded_times(model: &Model, seed: Seed, notes: &mut Vec<String>) -> Vec<u64> {
    let is_fine = model.resolution_ns < 1_000_000_000 && model.tenths.outside() == 0;
    let bins = if is_fine { &model.tenths } else { &model.seconds };
    let tick_ns = bins.width_ns();
    let (_, counts) = bins.used();
    let offset_ns = bins.used().0.saturating_sub(model.begin_ns);
    let mut times_ns = Vec::new();
    for (tick, count) in (0_u64..).zip(counts) {
        if times_ns.len() + *count as usize > TIMES_MAX {
            notes.push(format!(
                "the recording ends after {} times, the most that can be replayed",
                times_ns.len()
            ));
            break;
        }
        times::spread(offset_ns + tick * tick_ns, tick_ns, *count as usize, seed, &mut times_ns);
    }
    notes.push(format!(
        "the recorded times are those of the log to {}; requests within are spread at random over it (seed {})",
        if is_fine { "0.1 s" } else { "1 s" },
        seed.0
    ));
    times_ns
}

/// The text of a file of recorded times, in seconds.
#[must_use]
pub fn times_text(times_ns: &[u64], begin_ns: u64) -> String {
    let mut text = String::with_capacity(16 * times_ns.len() + 80);
    let _ = writeln!(
        text,
        "# seconds since {}.{:09} (Unix time)",
        begin_ns / 1_000_000_000,
        begin_ns % 1_000_000_000
    );
    for time_ns in times_ns {
        let _ = writeln!(text, "{}.{:09}", time_ns / 1_000_000_000, time_ns % 1_000_000_000);
    }
    text
}

/// A name for files and requests: lower-case letters, digits, `-` and `_`.
pub(crate) fn slug(text: &str) -> String {
    let mut slug = String::new();
    for c in text.chars().take(80) {
        match c {
            'a'..='z' | '0'..='9' | '_' => slug.push(c),
            'A'..='Z' => slug.push(c.to_ascii_lowercase()),
            _ if !slug.ends_with('-') => slug.push('-'),
            _ => {}
        }
    }
    let slug = slug.trim_matches('-');
    if slug.is_empty() { "log".to_owned() } else { slug.to_owned() }
}

/// A text as a TOML string.
pub(crate) fn quoted(text: &str) -> String {
    toml::Value::String(text.to_owned()).to_string()
}

/// A logged target fit for a request line: what is not visible ASCII is percent-encoded.
pub(crate) fn sendable(target: &[u8]) -> String {
    let mut text = String::with_capacity(target.len());
    for byte in target {
        match byte {
            0x21..=0x7e => text.push(char::from(*byte)),
            _ => {
                let _ = write!(text, "%{byte:02X}");
            }
        }
    }
    text
}
