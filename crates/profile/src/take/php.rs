//! PHP by Excimer, where the extension is installed: an additional ini folder (`PHP_INI_SCAN_DIR`) puts a script before
//! every request, which samples it and adds its stacks to a file for each process. So it reaches php-fpm and other
//! servers that run a script for each request; in a server that is itself one endless script nothing is ever written.
//!
//! It costs from the first request on, warm-up included; only what comes within the window is written.

use super::{No, Request, Taken, wait};
use crate::text;
use schema::profile::{ProfileKind, ProfileUnit};
use std::fs;
use std::io;
use std::path::Path;

/// Between two samples.
const PERIOD_NS: u64 = 2_000_000;
/// While this file is there, stacks are written.
const GATE: &str = "open";
/// Ending of the files of the processes.
const ENDING: &str = "folded";
const REMEDY: &str = "apt-get install php-excimer for the target's PHP, and run it by php-fpm; servers that are one endless script are not reached";

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
    fs::write(scan.join("99-prony.ini"), format!("auto_prepend_file = \"{}\"\n", script.display()))?;
    // The empty part stands for the folder that PHP was built with.
    Ok(("PHP_INI_SCAN_DIR".to_owned(), format!(":{}", scan.display())))
}

pub(super) fn take(request: &Request) -> Result<Taken, No> {
    let Some(folder) = request.php else {
        return Err(No::new("the target was not started for PHP's profile", REMEDY));
    };
    let wrong = |error: io::Error| {
        No::new(format!("{}: {error}", folder.display()), "make room in the folder for temporary files")
    };
    let gate = folder.join(GATE);
    fs::write(&gate, "").map_err(wrong)?;
    let waited = wait(request);
    fs::remove_file(&gate).map_err(wrong)?;
    waited?;
    let mut raw = Vec::new();
    for entry in fs::read_dir(folder).map_err(wrong)?.flatten() {
        let path = entry.path();
        if path.extension().is_some_and(|ending| ending == ENDING) && raw.len() < crate::BYTES_MAX {
            raw.extend(fs::read(&path).map_err(wrong)?);
        }
    }
    if raw.is_empty() {
        return Err(No::new("no process of the target wrote a stack", REMEDY));
    }
    let folded = text::read(&raw, ProfileUnit::ElapsedNs, PERIOD_NS)?;
    let mut taken = Taken::one(ProfileKind::Php, folded, raw, "excimer.txt");
    taken.notes.push("elapsed time of requests that ended in the window, one sample in 2 ms".to_owned());
    Ok(taken)
}
