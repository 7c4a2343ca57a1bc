//! PHP by Excimer, where the extension is installed: an additional ini folder (`PHP_INI_SCAN_DIR`) puts a script before
//! every request, which samples it and adds its stacks to a file for each process. So it reaches php-fpm and other
//! servers that run a script for each request; in a server that is itself one endless script nothing is ever written.
//!
//! It costs from the first request on, warm-up included; only what comes within the window is written.

use super::{No, Request, Taken, unwritable, wait};
use crate::text;
use rustix::fs::OFlags;
use schema::profile::{ProfileKind, ProfileUnit};
use schema::said;
use schema::said::Said;
use std::fs::{self, File, Permissions};
use std::io::{self, Read};
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
use std::path::Path;

/// Between two samples.
const PERIOD_NS: u64 = 2_000_000;
/// While this file is there, stacks are written.
const GATE: &str = "open";
/// Ending of the files of the processes.
const ENDING: &str = "folded";
fn remedy() -> Said {
    said!(
        "profile.remedy_php",
        "apt-get install php-excimer for the target's PHP, and run it by php-fpm; servers that are one endless script are not reached"
    )
}

/// Where the processes write theirs: a folder of its own, because others than prony may write into it.
const STACKS: &str = "stacks";
/// Where root starts PHP, its workers are of another user: they may pass the folder, and add files to that of stacks.
const TO_PASS: u32 = 0o711;
const TO_ADD: u32 = 0o1733;

/// Writes what makes PHP sample itself into `folder`, and gives the environment that a target needs for it.
///
/// # Errors
/// When the system refuses.
pub fn ini(folder: &Path) -> io::Result<(String, String)> {
    let script = folder.join("excimer.php");
    let path = folder.display().to_string().replace('\\', "\\\\").replace('\'', "\\'");
    fs::write(&script, include_str!("excimer.php").replace("{folder}", &path))?;
    let scan = folder.join("ini");
    fs::create_dir_all(&scan)?;
    let stacks = folder.join(STACKS);
    fs::create_dir_all(&stacks)?;
    if rustix::process::geteuid().is_root() {
        fs::set_permissions(folder, Permissions::from_mode(TO_PASS))?;
        fs::set_permissions(&stacks, Permissions::from_mode(TO_ADD))?;
    }
    fs::write(scan.join("99-prony.ini"), format!("auto_prepend_file = \"{}\"\n", script.display()))?;
    // The empty part stands for the folder that PHP was built with.
    Ok(("PHP_INI_SCAN_DIR".to_owned(), format!(":{}", scan.display())))
}

pub(super) fn take(request: &Request) -> Result<Taken, No> {
    let Some(folder) = request.php else {
        return Err(No::new(
            said!("profile.not_for_php", "the target was not started for PHP's profile"),
            remedy(),
        ));
    };
    let wrong = |error: io::Error| unwritable(folder, &error);
    let gate = folder.join(GATE);
    fs::write(&gate, "").map_err(wrong)?;
    let waited = wait(request);
    fs::remove_file(&gate).map_err(wrong)?;
    waited?;
    let raw = stacks(&folder.join(STACKS)).map_err(wrong)?;
    if raw.is_empty() {
        return Err(No::new(said!("profile.no_stack", "no process of the target wrote a stack"), remedy()));
    }
    let folded = text::read(&raw, ProfileUnit::ElapsedNs, PERIOD_NS)?;
    let mut taken = Taken::one(ProfileKind::Php, folded, raw, "excimer.txt");
    taken.notes.push(said!(
        "profile.note_php",
        "elapsed time of requests that ended in the window, one sample in 2 ms; prony_end_of_script is what passed between a script's last call and its end"
    ));
    Ok(taken)
}

/// What the processes wrote, up to the most that is read of a profile.
fn stacks(folder: &Path) -> io::Result<Vec<u8>> {
    let mut raw = Vec::new();
    for entry in fs::read_dir(folder)?.flatten() {
        let path = entry.path();
        if path.extension().is_none_or(|ending| ending != ENDING) {
            continue;
        }
        // A worker could put a link or a pipe here, also between a look at it and its opening.
        let flags = (OFlags::NOFOLLOW | OFlags::NONBLOCK).bits().cast_signed();
        let Ok(file) = File::options().read(true).custom_flags(flags).open(&path) else { continue };
        if file.metadata()?.is_file() {
            let left = crate::BYTES_MAX.saturating_sub(raw.len()) as u64;
            file.take(left).read_to_end(&mut raw)?;
        }
    }
    Ok(raw)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_stacks_of_all_processes_are_read_and_no_link_is_followed() {
        let folder = tempfile::tempdir().unwrap();
        let (name, value) = ini(folder.path()).unwrap();
        assert_eq!((name.as_str(), value.starts_with(':')), ("PHP_INI_SCAN_DIR", true));
        let written = folder.path().join(STACKS);
        let put = |name: &str, text: &str| fs::write(written.join(name), text).unwrap();
        put("7.folded", "main;work 2\n");
        put("8.folded", "main 1\n");
        put("secret", "secret 1\n");
        std::os::unix::fs::symlink(written.join("secret"), written.join("9.folded")).unwrap();
        let raw = String::from_utf8(stacks(&written).unwrap()).unwrap();
        let mut lines: Vec<&str> = raw.lines().collect();
        lines.sort_unstable();
        assert_eq!(lines, ["main 1", "main;work 2"]);
    }
}
