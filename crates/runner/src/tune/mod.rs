//! Tuning the host for a measurement, and putting it back whatever happens.
//!
//! ```text
//! journal written and flushed ──▶ settings changed ──▶ journal complete ──▶ … ──▶ settings put back ──▶ journal removed
//! ```
//! At every arrow the process may die: a journal names old and new value, so that a later prony sees of each setting
//! whether it was changed, and undoes exactly that.
//!
//! Invariants: nothing is changed that is not in a flushed journal; a value that somebody else has changed since is
//! named and left alone; the journal of a living process is not touched; what could not be put back stays in the
//! journal and is tried again.
//! Absent on purpose: which settings there are and why (`settings`), asking the user, and raising privileges.

mod error;
mod journal;
mod settings;
#[cfg(test)]
mod tests;

pub use error::TuneError;
pub use settings::{why, written_to};

use crate::{RunnerError, state};
use collect::Roots;
use journal::{Kept, Lock, Standing};
use launch::confine::Owner;
use schema::said;
use schema::said::Said;
use schema::tuning::{NotTuned, PutBack, PutBackOutcome, TunedSetting, TunedUntil, TuningJournal};
use settings::Wish;
use std::io;
use std::path::PathBuf;

/// What was tuned.
#[derive(Debug, Default)]
pub struct Tuned {
    /// Settings with old and new value.
    pub changed: Vec<TunedSetting>,
    /// What should have been changed too.
    pub refused: Vec<NotTuned>,
}

/// What was put back.
#[derive(Debug, Default)]
pub struct Restored {
    /// Setting by setting.
    pub settings: Vec<PutBack>,
    /// Journals that could not be dealt with, with the cause.
    pub problems: Vec<String>,
}

impl Restored {
    /// Whether something is still not as it was, for a cause that may go away.
    #[must_use]
    pub fn has_failed(&self) -> bool {
        !self.problems.is_empty()
            || self.settings.iter().any(|setting| setting.outcome == PutBackOutcome::Failed)
    }
}

/// The host's settings and the journals about them.
#[derive(Clone, Debug)]
pub struct Tuner {
    roots: Roots,
    folder: PathBuf,
}

/// The host is tuned as long as this is; dropped, it is put back without a word.
#[derive(Debug)]
pub struct Hold {
    tuner: Tuner,
    is_over: bool,
}

impl Tuner {
    /// This host, with the journals in the user's state folder; `None` where there is no such folder.
    #[must_use]
    pub fn here() -> Option<Self> {
        Some(Self::new(Roots::default(), state::folder("tuning")?))
    }

    /// A host whose files are below `roots`, with journals in `folder`.
    #[must_use]
    pub fn new(roots: Roots, folder: PathBuf) -> Self {
        Self { roots, folder }
    }

    /// Settings that prony has changed and has yet to put back.
    #[must_use]
    pub fn in_force(&self) -> Vec<TunedSetting> {
        let (kept, _) = journal::all(&self.folder);
        let here = kept.into_iter().filter(|kept| {
            matches!(kept.standing(&self.roots), Standing::Alive | Standing::Held | Standing::Abandoned)
        });
        here.flat_map(|kept| kept.journal.changes).collect()
    }

    /// Puts back what processes that died had changed. Where there is nothing to do, nothing is touched.
    #[must_use]
    pub fn recover(&self) -> Restored {
        self.undo(|standing, _| standing == Standing::Abandoned)
    }

    /// Puts back everything that prony has changed but what a living process puts back itself, which is named.
    #[must_use]
    pub fn restore(&self) -> Restored {
        let mut restored = self.undo(|standing, _| matches!(standing, Standing::Abandoned | Standing::Held));
        for kept in journal::all(&self.folder).0 {
            let owner = kept.owner().map_or_else(|| "unknown".to_owned(), |owner| owner.pid.to_string());
            match kept.standing(&self.roots) {
                Standing::Alive => restored
                    .problems
                    .push(format!("process {owner} has tuned this host and puts it back at its end")),
                Standing::Elsewhere => restored.problems.push(format!(
                    "{} is of another container or network namespace\n  remedy: run `prony doctor --restore` there; remove the file where that is gone",
                    kept.path.display()
                )),
                _ => {}
            }
        }
        restored
    }

    /// Changes what is not as it should be, once the old values are written down.
    ///
    /// # Errors
    /// Another process has tuned the host, or the old values cannot be kept; nothing is changed then.
    pub fn tune(&self, until: TunedUntil, turbo_off: bool) -> Result<Tuned, TuneError> {
        self.carry_out(settings::wishes(&self.roots, turbo_off), until)
    }

    /// What [`Tuner::tune`] would change and could not; nothing is written.
    #[must_use]
    pub fn would_tune(&self, turbo_off: bool) -> Tuned {
        let mut tuned = Tuned::default();
        for wish in settings::wishes(&self.roots, turbo_off) {
            match settings::refusal(&self.roots, &wish.name) {
                Some(cause) => tuned.refused.push(refused(wish, &cause)),
                None => tuned.changed.push(change(&wish)),
            }
        }
        tuned
    }

    /// As [`Tuner::tune`], until the returned hold ends.
    ///
    /// # Errors
    /// As there.
    pub fn hold(&self, turbo_off: bool) -> Result<(Tuned, Hold), TuneError> {
        let tuned = self.tune(TunedUntil::RunEnds, turbo_off)?;
        Ok((tuned, Hold { tuner: self.clone(), is_over: false }))
    }

    fn carry_out(&self, wishes: Vec<Wish>, until: TunedUntil) -> Result<Tuned, TuneError> {
        // Also where nothing is left to change: the other puts it back in the middle of what is to be measured now.
        self.nobody_else()?;
        let mut tuned = Tuned::default();
        let mut allowed = Vec::new();
        for wish in wishes {
            match settings::refusal(&self.roots, &wish.name) {
                Some(cause) => tuned.refused.push(refused(wish, &cause)),
                None => allowed.push(wish),
            }
        }
        if allowed.is_empty() {
            return Ok(tuned);
        }
        let lock = Lock::take(&self.folder)?;
        self.nobody_else()?;
        let mut kept = self.begin(&allowed, until)?;
        for wish in allowed {
            if let Err(cause) = settings::write(&self.roots, &wish.name, &wish.wanted) {
                self.forget(&wish, &mut kept.journal.changes);
                tuned.refused.push(refused(wish, &cause));
            }
        }
        kept.journal.complete = true;
        tuned.changed.clone_from(&kept.journal.changes);
        let ended = if kept.journal.changes.is_empty() { kept.remove() } else { kept.write() };
        drop(lock);
        if let Err(cause) = ended {
            // The journal that was flushed before still names everything.
            let _ = self.put_back_own();
            return Err(cause.into());
        }
        Ok(tuned)
    }

    /// A change that was refused leaves the journal, unless the kernel made another value of it that stays.
    fn forget(&self, wish: &Wish, changes: &mut Vec<TunedSetting>) {
        let is_old = || settings::read(&self.roots, &wish.name).is_ok_and(|now| now == wish.now);
        if is_old() || settings::write(&self.roots, &wish.name, &wish.now).is_ok() {
            changes.retain(|change| change.name != wish.name);
        } else if let Ok(now) = settings::read(&self.roots, &wish.name) {
            changes
                .iter_mut()
                .filter(|change| change.name == wish.name)
                .for_each(|change| change.new.clone_from(&now));
        }
    }

    /// Writes down what is about to be changed.
    fn begin(&self, wishes: &[Wish], until: TunedUntil) -> Result<Kept, TuneError> {
        let owner = Owner::this_process().map_err(TuneError::NoOwner)?.to_string();
        let journal = TuningJournal {
            schema: Default::default(),
            boot: journal::boot(&self.roots),
            network_namespace: journal::network_namespace(&self.roots),
            since_wall: jiff::Timestamp::now().to_string(),
            until,
            complete: false,
            changes: wishes.iter().map(change).collect(),
            owner,
        };
        // One process may tune more than once, and each time from other values.
        let name = |n: u32| self.folder.join(format!("{}-{n}.json", journal.owner));
        let path = (1..).map(name).find(|path| !path.exists()).ok_or(TuneError::NoPlace)?;
        let kept = Kept { path, journal };
        kept.write()?;
        Ok(kept)
    }

    /// Puts back what this process has changed until its end.
    fn put_back_own(&self) -> Restored {
        let own = Owner::this_process().ok();
        self.undo(|standing, kept| standing == Standing::Alive && kept.owner() == own)
    }

    fn nobody_else(&self) -> Result<(), TuneError> {
        let (all, _) = journal::all(&self.folder);
        let alive = all.into_iter().find(|kept| kept.standing(&self.roots) == Standing::Alive);
        match alive.and_then(|kept| kept.owner()) {
            Some(owner) => Err(TuneError::Busy { pid: owner.pid }),
            None => Ok(()),
        }
    }

    /// Puts the chosen journals back, the latest change first, and removes those of earlier boots.
    fn undo(&self, is_chosen: impl Fn(Standing, &Kept) -> bool) -> Restored {
        let mut restored = Restored::default();
        let (seen, problems) = journal::all(&self.folder);
        restored.problems = problems;
        let is_due = |kept: &Kept| {
            let standing = kept.standing(&self.roots);
            standing == Standing::Outlived || is_chosen(standing, kept)
        };
        if !seen.iter().any(is_due) {
            return restored;
        }
        let _lock = match Lock::take(&self.folder) {
            Ok(lock) => lock,
            Err(error) => {
                restored.problems.push(error.to_string());
                return restored;
            }
        };
        // Again under the lock: another prony may have put it back meanwhile. The latest changes come first.
        let mut due: Vec<Kept> = journal::all(&self.folder).0.into_iter().filter(is_due).collect();
        due.sort_by(|a, b| b.journal.since_wall.cmp(&a.journal.since_wall));
        for kept in due {
            let ended = if kept.standing(&self.roots) == Standing::Outlived {
                kept.remove()
            } else {
                self.put_back(kept, &mut restored.settings)
            };
            restored.problems.extend(ended.err().map(|error| error.to_string()));
        }
        restored
    }

    /// What fails stays in the journal.
    fn put_back(&self, mut kept: Kept, told: &mut Vec<PutBack>) -> Result<(), RunnerError> {
        let changes = std::mem::take(&mut kept.journal.changes);
        let mut done: Vec<(TunedSetting, PutBack)> =
            changes.into_iter().rev().map(|change| (change.clone(), self.put_back_one(&change))).collect();
        done.reverse();
        for (change, outcome) in done {
            if outcome.outcome == PutBackOutcome::Failed {
                kept.journal.changes.push(change);
            }
            told.push(outcome);
        }
        if kept.journal.changes.is_empty() { kept.remove() } else { kept.write() }
    }

    fn put_back_one(&self, change: &TunedSetting) -> PutBack {
        let mut told = PutBack {
            name: change.name.clone(),
            old: change.old.clone(),
            new: change.new.clone(),
            found: None,
            outcome: PutBackOutcome::Failed,
            cause: None,
        };
        let now = match settings::read(&self.roots, &change.name) {
            Ok(now) => now,
            Err(cause) => {
                told.cause = Some(cause.to_string().into());
                return told;
            }
        };
        told.found = Some(now.clone());
        told.outcome = if now == change.old {
            PutBackOutcome::Untouched
        } else if now != change.new {
            PutBackOutcome::Foreign
        } else {
            match settings::write(&self.roots, &change.name, &change.old) {
                Ok(()) => PutBackOutcome::Restored,
                Err(cause) => {
                    told.cause = Some(refusal_words(&cause));
                    PutBackOutcome::Failed
                }
            }
        };
        told
    }
}

impl Hold {
    /// Puts the host back, and says how that went.
    #[must_use]
    pub fn end(mut self) -> Restored {
        self.is_over = true;
        self.tuner.put_back_own()
    }
}

impl Drop for Hold {
    fn drop(&mut self) {
        if !self.is_over {
            // What fails stays in the journal, and the next prony says it.
            let _ = self.tuner.put_back_own();
        }
    }
}

fn change(wish: &Wish) -> TunedSetting {
    TunedSetting { name: wish.name.clone(), old: wish.now.clone(), new: wish.wanted.clone() }
}

fn refused(wish: Wish, cause: &io::Error) -> NotTuned {
    NotTuned { name: wish.name, value: wish.now, wanted: wish.wanted, cause: refusal_words(cause) }
}

fn refusal_words(cause: &io::Error) -> Said {
    match cause.kind() {
        io::ErrorKind::PermissionDenied => said!("tuning.not_allowed", "not allowed; run as root"),
        io::ErrorKind::ReadOnlyFilesystem => {
            said!("tuning.read_only", "its file system is read-only, as in a container")
        }
        _ => cause.to_string().into(),
    }
}
