//! Where the programs are: the peers on PATH, prony and our own small programs beside this binary.

use crate::error::BenchError;
use crate::peer::{BASE, BEFORE, PEERS, Peer, SELF, VersionFrom};
use serde::Serialize;
use sha2::{Digest as _, Sha256};
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::SystemTime;

/// A peer that can be run.
#[derive(Clone, Debug)]
pub(crate) struct Program {
    /// Which one.
    pub(crate) peer: &'static Peer,
    /// Its file.
    pub(crate) path: PathBuf,
}

/// What is kept of a program beside the results.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Identity {
    name: &'static str,
    path: PathBuf,
    /// Absent where the program does not tell.
    version: Option<String>,
    sha256: Option<String>,
}

/// The folder of this program and of those that are built with it.
///
/// # Errors
/// The system does not tell.
pub(crate) fn own_folder() -> Result<PathBuf, BenchError> {
    let here = std::env::current_exe().map_err(|error| BenchError::Build(error.to_string()))?;
    Ok(here.with_file_name(""))
}

/// The server of the benchmark, built with this program.
///
/// # Errors
/// It is not there.
pub(crate) fn server(own: &Path) -> Result<PathBuf, BenchError> {
    let path = own.join("bench-server");
    if is_program(&path) { Ok(path) } else { Err(BenchError::NoServer(path)) }
}

/// Finds all peers; those that are not there are left out, but the base must be.
///
/// # Errors
/// The base is missing.
pub(crate) fn find_all(own: &Path, prony: &Path, before: Option<&Path>) -> Result<Vec<Program>, BenchError> {
    let search = std::env::var_os("PATH").unwrap_or_default();
    let folders: Vec<PathBuf> = std::env::split_paths(&search).collect();
    find_in(&folders, own, prony, before)
}

fn find_in(
    folders: &[PathBuf],
    own: &Path,
    prony: &Path,
    before: Option<&Path>,
) -> Result<Vec<Program>, BenchError> {
    let find = |peer: &'static Peer| {
        if peer.name == SELF {
            return Some(Program { peer, path: prony.to_owned() });
        }
        if peer.name == BEFORE {
            return before.map(|path| Program { peer, path: path.to_owned() });
        }
        if peer.is_own() {
            let path = own.join(peer.name);
            return is_program(&path).then_some(Program { peer, path });
        }
        let path = folders.iter().map(|folder| folder.join(peer.name)).find(|path| is_program(path))?;
        Some(Program { peer, path })
    };
    let found: Vec<Program> = PEERS.into_iter().filter_map(find).collect();
    if found.iter().any(|program| program.peer.name == BASE.name) {
        Ok(found)
    } else {
        Err(BenchError::NoBase { name: BASE.name, install: BASE.install })
    }
}

fn is_program(path: &Path) -> bool {
    fs::metadata(path).is_ok_and(|file| file.is_file() && file.permissions().mode() & 0o111 != 0)
}

/// The prony to measure: `given`, or the one in the folder of this binary, built where it is missing or `build` is set.
///
/// # Errors
/// There is none, or the build fails.
pub(crate) fn prony(given: Option<&Path>, build: bool) -> Result<PathBuf, BenchError> {
    if let Some(path) = given {
        return check(path);
    }
    let here = std::env::current_exe().map_err(|error| BenchError::Build(error.to_string()))?;
    let path = here.with_file_name(SELF);
    if build || !is_program(&path) {
        let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
        let status = Command::new(cargo)
            .args(["build", "--profile", "dist", "-p", SELF])
            .current_dir(crate::record::workspace())
            .status()
            .map_err(|error| BenchError::Build(error.to_string()))?;
        if !status.success() {
            return Err(BenchError::Build(status.to_string()));
        }
    }
    if is_program(&path) { Ok(path) } else { Err(BenchError::NoProny(path)) }
}

/// A program that the user named.
///
/// # Errors
/// It is not there, or cannot be executed.
pub(crate) fn check(path: &Path) -> Result<PathBuf, BenchError> {
    if is_program(path) { Ok(path.to_owned()) } else { Err(BenchError::NoProny(path.to_owned())) }
}

/// A source file that is newer than the program, by the list that cargo keeps beside it (`prony.d`).
///
/// Without the list nothing is known and nothing said.
pub(crate) fn newer_source(program: &Path) -> Option<PathBuf> {
    let built = modified(program)?;
    let list = fs::read_to_string(program.with_extension("d")).ok()?;
    sources(&list).into_iter().find(|source| modified(source).is_some_and(|changed| changed > built))
}

fn modified(path: &Path) -> Option<SystemTime> {
    fs::metadata(path).ok()?.modified().ok()
}

/// The prerequisites in a Makefile rule; a blank in a name stands behind a backslash.
fn sources(rule: &str) -> Vec<PathBuf> {
    const BLANK: &str = "\u{0}";
    let rule = rule.replace("\\ ", BLANK);
    let listed =
        rule.lines().filter_map(|line| line.split_once(": ")).flat_map(|(_, listed)| listed.split(' '));
    listed.map(|name| PathBuf::from(name.replace(BLANK, " "))).collect()
}

impl Program {
    /// Version and fingerprint, as far as they can be had.
    pub(crate) fn identity(&self) -> Identity {
        let version = match self.peer.version {
            VersionFrom::Option(option) => first_line(Command::new(&self.path).arg(option)),
            VersionFrom::Commit => Some(format!("{} of this commit", self.peer.name)),
            VersionFrom::Package(package) => {
                first_line(Command::new("dpkg-query").args(["-W", "-f", "${Package} ${Version}\n", package]))
            }
        };
        Identity { name: self.peer.name, path: self.path.clone(), version, sha256: fingerprint(&self.path) }
    }
}

fn fingerprint(path: &Path) -> Option<String> {
    let digest = Sha256::digest(fs::read(path).ok()?);
    Some(digest.iter().map(|byte| format!("{byte:02x}")).collect())
}

/// The first line that a command prints, whatever its exit code: `wrk --version` ends with 1.
fn first_line(command: &mut Command) -> Option<String> {
    let output = command.stdin(Stdio::null()).stderr(Stdio::null()).output().ok()?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    text.lines().map(str::trim).find(|line| !line.is_empty()).map(str::to_owned)
}

impl Identity {
    /// Whether it is of this peer.
    pub(crate) fn is(&self, peer: &Peer) -> bool {
        self.name == peer.name
    }

    /// Whether the program's file is what it was.
    pub(crate) fn is_still(&self, program: &Program) -> bool {
        self.sha256 == fingerprint(&program.path)
    }

    /// One line for people.
    pub(crate) fn line(&self) -> String {
        format!("{}: {}", self.name, self.version.as_deref().unwrap_or("version unknown"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn folder_with(names: &[(&str, u32)]) -> tempfile::TempDir {
        let folder = tempfile::tempdir().unwrap();
        for (name, mode) in names {
            let path = folder.path().join(name);
            fs::write(&path, "#!/bin/sh\n").unwrap();
            fs::set_permissions(&path, fs::Permissions::from_mode(*mode)).unwrap();
        }
        folder
    }

    #[test]
    fn peers_that_are_there_are_found_and_a_missing_wrk_names_its_remedy() {
        let check = |names: &[(&str, u32)], wanted: Result<&[&str], &str>| {
            let folder = folder_with(names);
            let got = find_in(&[folder.path().to_owned()], Path::new("/x"), Path::new("/x/prony"), None);
            let got = got.map(|found| found.iter().map(|program| program.peer.name).collect::<Vec<_>>());
            assert_eq!(
                got.as_deref().map_err(ToString::to_string),
                wanted.map_err(str::to_owned),
                "{names:?}"
            );
        };
        check(&[("wrk", 0o755), ("hey", 0o755)], Ok(&["prony", "wrk", "hey"]));
        check(&[("wrk", 0o755), ("hey", 0o644)], Ok(&["prony", "wrk"]));
        check(&[("hey", 0o755)], Err("wrk is missing: apt-get install wrk"));
        assert_eq!(find_in(&[], Path::new("/x"), Path::new("/x/prony"), None).unwrap_err().exit_code(), 2);
    }

    #[test]
    fn a_program_that_is_built_anew_is_noticed() {
        let folder = folder_with(&[("wrk", 0o755)]);
        let program = Program { peer: BASE, path: folder.path().join("wrk") };
        let before = program.identity();
        assert!(before.is_still(&program));
        fs::write(&program.path, "#!/bin/sh\nexit\n").unwrap();
        assert!(!before.is_still(&program));
    }

    #[test]
    fn a_source_that_is_newer_than_the_program_is_named() {
        let folder = folder_with(&[("prony", 0o755), ("a file.rs", 0o644), ("b.rs", 0o644)]);
        let (program, first, second) =
            (folder.path().join("prony"), folder.path().join("a file.rs"), folder.path().join("b.rs"));
        let escaped = first.display().to_string().replace(' ', "\\ ");
        let rule = format!("{}: {escaped} {}\n", program.display(), second.display());
        fs::write(program.with_extension("d"), rule).unwrap();
        let set = |path: &Path, at_s: u64| {
            let time = SystemTime::UNIX_EPOCH + std::time::Duration::from_secs(at_s);
            fs::File::options().append(true).open(path).unwrap().set_modified(time).unwrap();
        };
        for (program_s, first_s, wanted) in [(10, 9, None), (10, 11, Some(first.clone()))] {
            set(&program, program_s);
            set(&first, first_s);
            set(&second, 1);
            assert_eq!(newer_source(&program), wanted);
        }
        fs::remove_file(program.with_extension("d")).unwrap();
        assert_eq!(newer_source(&program), None);
    }
}
