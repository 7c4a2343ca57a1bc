//! Finding programs as `execvp` would, so that a missing one is named before anything is started.

use std::env;
use std::ffi::OsStr;
use std::fs;
use std::io::Read;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

/// A version command that has not ended by then has no version.
const VERSION_TIMEOUT: Duration = Duration::from_secs(10);
/// Between two looks whether a command has ended.
const EXIT_PAUSE: Duration = Duration::from_millis(2);
/// Bytes read of a version.
const VERSION_BYTES: u64 = 4096;

/// Where `program` is: a name with a slash is taken from `folder`, any other is looked up on `path` or on PATH.
pub(crate) fn find(program: &str, folder: Option<&Path>, path: Option<&str>) -> Option<PathBuf> {
    if program.contains('/') {
        let file = folder.map_or_else(|| PathBuf::from(program), |folder| folder.join(program));
        return is_program(&file).then_some(file);
    }
    let path = path.map(|path| OsStr::new(path).to_owned()).or_else(|| env::var_os("PATH"))?;
    env::split_paths(&path).map(|entry| entry.join(program)).find(|file| is_program(file))
}

fn is_program(file: &Path) -> bool {
    fs::metadata(file).is_ok_and(|facts| facts.is_file() && facts.permissions().mode() & 0o111 != 0)
}

/// Whether a command exits with 0 in time.
pub(crate) fn succeeds(command: &[String], folder: &Path) -> bool {
    output(command, folder).is_some_and(|(_, is_good)| is_good)
}

/// The first line that a version command prints; `None` where it fails, says nothing or takes too long.
pub(crate) fn version(command: &[String], folder: &Path) -> Option<String> {
    let (bytes, _) = output(command, folder)?;
    let text = String::from_utf8_lossy(&bytes);
    let line = text.lines().map(str::trim).find(|line| !line.is_empty())?;
    Some(crate::tail::clean(line, 200))
}

/// What a short command prints, and whether it exited with 0; `None` where it cannot run or takes too long.
fn output(command: &[String], folder: &Path) -> Option<(Vec<u8>, bool)> {
    let (program, arguments) = command.split_first()?;
    let mut child = Command::new(program)
        .args(arguments)
        .current_dir(folder)
        .process_group(0)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .ok()?;
    let stdout = child.stdout.take()?;
    let (send, receive) = mpsc::channel();
    thread::spawn(move || {
        let mut bytes = Vec::new();
        let read = stdout.take(VERSION_BYTES).read_to_end(&mut bytes);
        // The receiver is gone only after its time-out; nobody wants the bytes then.
        let _ = send.send(read.map(|_| bytes));
    });
    let bytes = receive.recv_timeout(VERSION_TIMEOUT);
    let bytes = bytes.ok().and_then(Result::ok);
    // A command may end later than its output does.
    let exit = if bytes.is_some() { ended_in_time(&mut child) } else { None };
    // Its whole group, so that a helper of the command cannot hold the pipe and the thread.
    if let Some(group) = rustix::process::Pid::from_raw(child.id().cast_signed()) {
        let _ = rustix::process::kill_process_group(group, rustix::process::Signal::KILL);
    }
    let _ = child.wait();
    Some((bytes?, exit?.success()))
}

/// Its exit status, once it has one.
fn ended_in_time(child: &mut Child) -> Option<ExitStatus> {
    let deadline = Instant::now() + VERSION_TIMEOUT;
    loop {
        match child.try_wait() {
            Ok(Some(status)) => return Some(status),
            Ok(None) if Instant::now() < deadline => thread::sleep(EXIT_PAUSE),
            _ => return None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn programs_are_found_as_exec_finds_them() {
        let folder = tempfile::tempdir().unwrap();
        let tool = folder.path().join("tool");
        fs::write(&tool, "#!/bin/sh\n").unwrap();
        assert_eq!(find("./tool", Some(folder.path()), None), None, "not executable");
        fs::set_permissions(&tool, fs::Permissions::from_mode(0o755)).unwrap();
        assert!(find("./tool", Some(folder.path()), None).is_some());
        assert_eq!(find("tool", None, folder.path().to_str()), Some(tool));
        assert_eq!(find("tool", None, Some("/nowhere")), None);
        assert!(find("sh", None, None).is_some());
    }

    #[test]
    fn a_version_is_the_first_line_or_nothing() {
        let version = |script: &str| version(&["sh".into(), "-c".into(), script.into()], Path::new("/"));
        assert_eq!(version("echo; echo ' v1.2 '; echo more").as_deref(), Some("v1.2"));
        assert_eq!(version("exit 3"), None);
        let succeeds = |script: &str| succeeds(&["sh".into(), "-c".into(), script.into()], Path::new("/"));
        assert!(succeeds("exit 0") && succeeds("exec >&-; exit 0") && !succeeds("exit 3"));
        assert_eq!(super::version(&["no-such-program".into()], Path::new("/")), None);
    }
}
