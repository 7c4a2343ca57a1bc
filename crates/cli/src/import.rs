//! `prony import`: another tool's input becomes a scenario file; what was left out goes to standard error.
//!
//! Nothing is written before all is read, and nothing is overwritten without `--force`.

use crate::args::ImportArgs;
use crate::{exit, output};
use anyhow::{Context as _, Result, bail};
use import::{Format, Imported, Options};
use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::io::Read as _;
use std::path::{Component, Path, PathBuf};

/// Largest file that is read: it is held in memory as one text.
const FILE_BYTES_MAX: u64 = 2 << 30;

pub(crate) fn import(args: &ImportArgs) -> Result<u8> {
    let label = label(&args.file);
    let text = read(&args.file, &label)?;
    let format = format(args, &label, &text)?;
    if args.group.is_some() && !matches!(format, Format::Jmeter | Format::K6) {
        bail!(
            "--group names a thread group of JMeter or a scenario of k6, and {label} is read as {format}\n  remedy: leave \
             it out, or add --format jmeter"
        );
    }
    let name = name(args)?;
    let options = Options {
        session: args.session,
        origin: args.origin.clone(),
        all_origins: args.all_origins,
        group: args.group.clone(),
    };
    let mut imported = ::import::import(format, &name, &label, &text, &options)?;
    place_files(args, &mut imported)?;
    let bodies = bodies(args, &imported)?;
    if let Some(taken) = bodies.iter().map(|(path, _)| path).chain(&args.output).find(|path| path.is_file())
        && !args.force
    {
        bail!("{} exists already; give another -o, or --force to overwrite it", taken.display());
    }
    for (path, content) in bodies {
        record::write_whole(&path, content)?;
    }
    output::write(args.output.as_deref(), &toml(args, &imported))?;
    output::say_text(&in_words(args, &imported));
    Ok(exit::DONE)
}

fn is_stdin(file: &Path) -> bool {
    file.as_os_str() == "-"
}

/// The file in messages.
fn label(file: &Path) -> String {
    if is_stdin(file) { "standard input".to_owned() } else { file.display().to_string() }
}

fn read(file: &Path, label: &str) -> Result<String> {
    let mut bytes = Vec::new();
    let read = |input: &mut dyn std::io::Read, bytes: &mut Vec<u8>| {
        input.take(FILE_BYTES_MAX + 1).read_to_end(bytes).with_context(|| format!("cannot read {label}"))
    };
    if is_stdin(file) {
        read(&mut std::io::stdin().lock(), &mut bytes)?;
    } else {
        let mut input = std::fs::File::open(file).with_context(|| format!("cannot read {label}"))?;
        read(&mut input, &mut bytes)?;
    }
    if bytes.len() as u64 > FILE_BYTES_MAX {
        bail!("{label} is larger than 2 GiB; import a part of it");
    }
    // Checked in place: a second copy of a large archive would be for nothing.
    String::from_utf8(bytes).map_err(|error| {
        let at = error.utf8_error().valid_up_to();
        let line = error.as_bytes()[..at].iter().filter(|byte| **byte == b'\n').count() + 1;
        anyhow::anyhow!(
            "{label}:{line}: the file is not UTF-8\n  remedy: convert it, for example with iconv -t UTF-8"
        )
    })
}

fn format(args: &ImportArgs, label: &str, text: &str) -> Result<Format> {
    match args.format.or_else(|| ::import::detect(label, text)) {
        Some(format) => Ok(format),
        None => bail!(
            "{label}: its name and beginning do not show its format\n  remedy: say it: --format {}",
            Format::ALL.map(Format::key).join("|")
        ),
    }
}

/// A scenario is called as its file is.
fn name(args: &ImportArgs) -> Result<String> {
    let stem = |path: &Path| path.file_stem().map(|stem| stem.to_string_lossy().into_owned());
    let of_output = args.output.as_deref().and_then(stem);
    match (&args.name, of_output) {
        (Some(name), Some(stem)) if *name != stem => {
            bail!("a scenario is called as its file: leave --name {name} out, or write to -o {name}.toml")
        }
        (Some(name), _) if name.is_empty() || name.contains(['/', '\0']) => {
            bail!("--name `{name}` cannot be the name of a file; give letters, digits, - and _")
        }
        (Some(name), _) => Ok(name.clone()),
        (None, Some(stem)) => Ok(stem),
        (None, None) if is_stdin(&args.file) => Ok("imported".to_owned()),
        (None, None) => Ok(stem(&args.file).unwrap_or_else(|| "imported".to_owned())),
    }
}

/// Bodies that are no text, with their paths beside the scenario; on standard output there is no place for them.
fn bodies<'a>(args: &ImportArgs, imported: &'a Imported) -> Result<Vec<(PathBuf, &'a [u8])>> {
    let Some(output) = &args.output else {
        if imported.bodies.is_empty() {
            return Ok(Vec::new());
        }
        bail!(
            "{} bodies are no text and need files beside the scenario; say where: -o FILE",
            imported.bodies.len()
        );
    };
    let folder = output.parent().unwrap_or(Path::new(""));
    Ok(imported.bodies.iter().map(|(name, content)| (folder.join(name), content.as_slice())).collect())
}

/// Other tools find body files from the folder that they are started in, a scenario finds them beside itself: rewrites
/// the paths of a scenario that is written elsewhere, so that they name the same files.
fn place_files(args: &ImportArgs, imported: &mut Imported) -> Result<()> {
    let Some(output) = &args.output else { return Ok(()) };
    let to = std::path::absolute(output.parent().unwrap_or(Path::new(""))).unwrap_or_default();
    let here = std::env::current_dir().context("cannot find the folder that prony was started in")?;
    // An input that was moved together with its bodies still finds them.
    let beside_input = args.file.parent().map(|folder| here.join(folder));
    let own: BTreeSet<&str> = imported.bodies.iter().map(|(name, _)| name.as_str()).collect();
    let place = |file: &mut String| -> bool {
        if Path::new(file).is_absolute() {
            return true;
        }
        let places = [Some(&here), beside_input.as_ref()];
        let found = places.into_iter().flatten().map(|place| place.join(&*file)).find(|path| path.is_file());
        let is_there = found.is_some();
        *file = relative(&to, &found.unwrap_or_else(|| here.join(&*file))).display().to_string();
        is_there
    };
    let bodies = imported.scenario.requests.iter_mut().flat_map(|request| {
        let parts = request.multipart.iter_mut().flatten();
        parts.filter_map(|part| part.file.as_mut()).chain(request.body_file.as_mut())
    });
    let mut missing = 0_u64;
    for file in bodies.filter(|file| !own.contains(file.as_str())) {
        missing += u64::from(!place(file));
    }
    let mut rows_missing = 0_u64;
    for feeder in imported.scenario.feeders.values_mut() {
        rows_missing += u64::from(!place(&mut feeder.file));
    }
    for (what, count) in [("body files", missing), ("files of rows", rows_missing)] {
        if count > 0 {
            imported.notes.push(format!("{what} that are not there: {count}"));
        }
    }
    Ok(())
}

/// The way from one folder to a file; both are absolute.
fn relative(from: &Path, to: &Path) -> PathBuf {
    let (from, to) = (plain(from), plain(to));
    let shared = from.iter().zip(&to).take_while(|(a, b)| a == b).count();
    let up = std::iter::repeat_n(Component::ParentDir, from.iter().count() - shared);
    up.map(|component| component.as_os_str().to_owned())
        .chain(to.iter().skip(shared).map(ToOwned::to_owned))
        .collect()
}

/// A path without `.` and `..`.
fn plain(path: &Path) -> PathBuf {
    let mut plain = PathBuf::new();
    for component in path.components() {
        match component {
            Component::CurDir => {}
            Component::ParentDir => drop(plain.pop()),
            other => plain.push(other),
        }
    }
    plain
}

/// The origin is no part of a scenario, so it stands in a comment.
fn toml(args: &ImportArgs, imported: &Imported) -> String {
    let run = run(args, imported).map_or_else(String::new, |run| format!("# {run}\n"));
    format!("# Recorded at {}\n{run}{}", imported.origin, ::import::to_toml(&imported.scenario))
}

/// The command that sends as much as the plan did, where the foreign file says how much.
fn run(args: &ImportArgs, imported: &Imported) -> Option<String> {
    let load = (!imported.load.is_empty()).then(|| imported.load.join(" "))?;
    let file = args.output.as_ref().map_or_else(|| "FILE".to_owned(), |path| path.display().to_string());
    // A name that no shell can have has a zero byte, and no file has.
    let file = shlex::try_quote(&file).unwrap_or_default();
    Some(format!("prony load {} --scenario {file} {load}", imported.origin))
}

fn in_words(args: &ImportArgs, imported: &Imported) -> String {
    let requests = imported.scenario.requests.len();
    let what = match &imported.think {
        Some(steps) => format!("a session of {} steps, {requests} different requests", steps.len()),
        None => format!("{requests} different requests"),
    };
    let mut text = format!("{}: {what} to {}\n", imported.scenario.name, imported.origin);
    for note in &imported.notes {
        let _ = writeln!(text, "note: {note}");
    }
    if let Some(run) = run(args, imported) {
        let _ = writeln!(text, "run it: {run}");
    }
    text
}
