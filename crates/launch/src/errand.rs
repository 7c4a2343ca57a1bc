//! A user's program that runs beside a load and ends by itself: set-up before it, clean-up after it.
//!
//! It runs under a guard like a target, so that nothing it starts outlives it, and it has a time limit.
//! Absent on purpose: when it runs, and what its failure means.

use crate::TargetError;
use crate::guard::{Ending, Exit, Finish, Guard, Spec};
use schema::target::StopSignal;
use std::collections::BTreeMap;
use std::fs::File;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// How often it is looked whether the program was called off.
const CANCEL_PAUSE: Duration = Duration::from_millis(100);
/// A program that is called off, or is too late, has this long to end itself.
const ENDING: Ending = Ending { signal: StopSignal::Term, timeout_ms: 2000 };

/// One program.
#[derive(Clone, Copy, Debug)]
pub struct Errand<'a> {
    /// What it is to people, such as `--setup`.
    pub name: &'a str,
    /// The command line, for `sh -c`.
    pub command: &'a str,
    /// Added to its environment.
    pub env: &'a BTreeMap<String, String>,
    /// Longest time; above zero.
    pub timeout: Duration,
    /// Where its output goes; emptied first.
    pub log: &'a Path,
    /// prony's own binary, which becomes the guard.
    pub launcher: &'a Path,
    /// Ends it once set.
    pub cancelled: &'a AtomicBool,
}

impl Errand<'_> {
    /// Runs the program to its end.
    ///
    /// # Errors
    /// It cannot be started, was called off, was too slow, or failed (with the last 30 lines of its output).
    pub fn run(&self) -> Result<(), TargetError> {
        let failed = |error| TargetError::io(format!("write the log {}", self.log.display()), error);
        File::create(self.log).map_err(failed)?;
        let spec = Spec {
            command: ["sh", "-c", self.command].map(str::to_owned).to_vec(),
            env: self.env.clone(),
            folder: None,
            cpus: None,
            confine: None,
            join: None,
            log: self.log.to_owned(),
            ending: ENDING,
        };
        let mut guard = Guard::launch(self.launcher, &spec)?;
        let until = Instant::now() + self.timeout;
        let (mut is_called_off, mut is_late) = (false, false);
        while !is_called_off && !is_late && !guard.wait_for_end(CANCEL_PAUSE) {
            is_called_off = self.cancelled.load(Ordering::Relaxed);
            is_late = Instant::now() >= until;
        }
        let failed = |how: String, guard: &Guard| TargetError::Errand {
            name: self.name.to_owned(),
            command: self.command.to_owned(),
            how,
            tail: guard.tail(),
        };
        match guard.end() {
            Finish::Gone if is_called_off => Err(TargetError::Cancelled("a program beside the load")),
            Finish::Gone if is_late => Err(failed(format!("took longer than {:?}", self.timeout), &guard)),
            Finish::Gone => match guard.exit() {
                Some(Exit::Code(0)) => Ok(()),
                Some(exit) => Err(failed(exit.to_string(), &guard)),
                None => Err(guard.lost("it did not say how the program ended".to_owned())),
            },
            Finish::Left(pids) => Err(TargetError::Survivors { pids }),
            Finish::Lost(cause) => Err(guard.lost(cause)),
        }
    }
}
