//! Where a service keeps things: `.build` in its folder, with templates of data, copies of them, and locks.
//!
//! ```text
//! .build/lock            held while a template is made or copied
//! .build/new/            a template in the making; without the lock it is garbage
//! .build/data-HASH/      the template
//! .build/copy-PID-N/     data and log of one running service
//! .build/copy-PID-N.lock held by the copy's owner for as long as it lives
//! ```
//! Invariant: a template has its name only when it is whole; a copy is removed by its owner, or by the next start
//! after the owner has died, which its free lock proves.

use super::{ServiceError, copy};
use nix::unistd::User;
use std::fs::{self, File, TryLockError};
use std::os::unix::fs::{MetadataExt, PermissionsExt, chown};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};
use units::Nanos;

/// Making a template takes seconds; whoever holds the lock longer hangs.
const LOCK_TIMEOUT: Duration = Duration::from_secs(300);
const LOCK_PAUSE: Duration = Duration::from_millis(50);

/// The `.build` folder of one service.
#[derive(Clone, Debug)]
pub(super) struct Place {
    service: String,
    pub(super) build: PathBuf,
}

/// The lock of a place; free again when it is dropped.
#[derive(Debug)]
pub(super) struct Lock(#[expect(dead_code, reason = "held, never read")] File);

impl Place {
    pub(super) fn open(service: &str, folder: &Path) -> Result<Self, ServiceError> {
        let build = folder.join(".build");
        fs::create_dir_all(&build)
            .map_err(ServiceError::io(service, format!("create {}", build.display())))?;
        Ok(Self { service: service.to_owned(), build })
    }

    /// Waits for its turn, and clears away what dead owners left.
    pub(super) fn lock(&self, cancelled: &AtomicBool) -> Result<Lock, ServiceError> {
        self.lock_within(LOCK_TIMEOUT, cancelled)
    }

    fn lock_within(&self, timeout: Duration, cancelled: &AtomicBool) -> Result<Lock, ServiceError> {
        let path = self.build.join("lock");
        let what = || format!("lock {}", path.display());
        let file = File::create(&path).map_err(ServiceError::io(&self.service, what()))?;
        let deadline = Instant::now() + timeout;
        loop {
            match file.try_lock() {
                Ok(()) => break,
                Err(TryLockError::Error(error)) => {
                    return Err(ServiceError::io(&self.service, what())(error));
                }
                Err(TryLockError::WouldBlock) if cancelled.load(Ordering::Relaxed) => {
                    return Err(ServiceError::Cancelled(self.service.clone()));
                }
                Err(TryLockError::WouldBlock) if Instant::now() >= deadline => {
                    let (service, waited) = (self.service.clone(), Nanos::from(timeout));
                    return Err(ServiceError::Locked { service, waited, lock: path });
                }
                Err(TryLockError::WouldBlock) => std::thread::sleep(LOCK_PAUSE),
            }
        }
        self.clear();
        Ok(Lock(file))
    }

    /// Removes copies without an owner; what resists is tried again at the next start.
    fn clear(&self) {
        for entry in fs::read_dir(&self.build).into_iter().flatten().flatten() {
            let name = entry.file_name();
            let Some(copy) = name.to_str().and_then(|name| name.strip_suffix(".lock")) else { continue };
            let is_orphan = File::open(entry.path()).is_ok_and(|file| file.try_lock().is_ok());
            if copy.starts_with("copy-") && is_orphan {
                remove(&self.build.join(copy));
            }
        }
    }

    /// The template of this hash, where it is made already.
    pub(super) fn template(&self, hash: &str) -> PathBuf {
        self.build.join(format!("data-{hash}"))
    }

    /// An empty folder for a template in the making, and in it an empty `data` that belongs to `user`.
    pub(super) fn begin(&self, user: Option<&User>, _lock: &Lock) -> Result<PathBuf, ServiceError> {
        let new = self.build.join("new");
        let io = |what: &str| ServiceError::io(&self.service, format!("{what} {}", new.display()));
        if new.exists() {
            fs::remove_dir_all(&new).map_err(io("remove"))?;
        }
        fs::create_dir(&new).map_err(io("create"))?;
        self.empty_data(&new, user)?;
        Ok(new)
    }

    /// Gives a finished template its name and removes those of older manifests.
    pub(super) fn finish(&self, new: &Path, hash: &str, _lock: &Lock) -> Result<(), ServiceError> {
        let template = self.template(hash);
        fs::rename(new, &template).map_err(ServiceError::io(
            &self.service,
            format!("rename {} to {}", new.display(), template.display()),
        ))?;
        for entry in fs::read_dir(&self.build).into_iter().flatten().flatten() {
            let is_template = entry.file_name().to_string_lossy().starts_with("data-");
            if is_template && entry.path() != template {
                // Of no use any more; one that stays costs only space.
                let _ = fs::remove_dir_all(entry.path());
            }
        }
        Ok(())
    }

    /// A copy of the template's data, or empty data where there is no template.
    pub(super) fn copy(
        &self,
        template: Option<&Path>,
        user: Option<&User>,
        _lock: &Lock,
    ) -> Result<Copy, ServiceError> {
        static NEXT: AtomicU64 = AtomicU64::new(1);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let folder = self.build.join(format!("copy-{}-{number}", std::process::id()));
        let io = |what: &str| ServiceError::io(&self.service, format!("{what} {}", folder.display()));
        let lock = File::create(folder.with_extension("lock")).map_err(io("lock"))?;
        lock.lock().map_err(io("lock"))?;
        let copy = Copy { folder: folder.clone(), _lock: lock };
        fs::create_dir(&folder).map_err(io("create"))?;
        match template {
            Some(template) => {
                copy::tree(&template.join("data"), &copy.data()).map_err(io("copy the data to"))?;
            }
            None => self.empty_data(&folder, user)?,
        }
        Ok(copy)
    }

    fn empty_data(&self, folder: &Path, user: Option<&User>) -> Result<(), ServiceError> {
        let data = folder.join("data");
        let io = || ServiceError::io(&self.service, format!("create {}", data.display()));
        fs::create_dir(&data).map_err(io())?;
        fs::set_permissions(&data, fs::Permissions::from_mode(0o700)).map_err(io())?;
        let Some(user) = user else { return Ok(()) };
        self.check_way(folder, user)?;
        chown(&data, Some(user.uid.as_raw()), Some(user.gid.as_raw())).map_err(io())
    }

    /// The user must be able to enter every folder on the way to the data.
    fn check_way(&self, folder: &Path, user: &User) -> Result<(), ServiceError> {
        let enters = |facts: &fs::Metadata| facts.mode() & 0o001 != 0 || facts.uid() == user.uid.as_raw();
        let closed = folder.ancestors().find(|part| !fs::metadata(part).is_ok_and(|facts| enters(&facts)));
        match closed {
            None => Ok(()),
            Some(part) => Err(ServiceError::User {
                service: self.service.clone(),
                cause: format!("the user `{}` cannot enter {}", user.name, part.display()),
                remedy: format!(
                    "chmod o+x {}, move the project elsewhere, or run prony as another user than root",
                    part.display()
                ),
            }),
        }
    }
}

/// Data and log of one running service; removed when dropped.
#[derive(Debug)]
pub(super) struct Copy {
    folder: PathBuf,
    _lock: File,
}

impl Copy {
    pub(super) fn data(&self) -> PathBuf {
        self.folder.join("data")
    }

    pub(super) fn file(&self, name: &str) -> PathBuf {
        self.folder.join(name)
    }
}

impl Drop for Copy {
    fn drop(&mut self) {
        remove(&self.folder);
    }
}

/// The lock goes last: while it is there, the next start tries again.
fn remove(copy: &Path) {
    if !copy.exists() || fs::remove_dir_all(copy).is_ok() {
        let _ = fs::remove_file(copy.with_extension("lock"));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(place: &Place) -> Vec<String> {
        let entries = fs::read_dir(&place.build).unwrap().map(|entry| entry.unwrap().file_name());
        let mut names: Vec<String> = entries.map(|name| name.into_string().unwrap()).collect();
        names.sort();
        names
    }

    #[test]
    fn copies_go_with_their_owner_and_orphans_at_the_next_start() {
        let folder = tempfile::tempdir().unwrap();
        let place = Place::open("x", folder.path()).unwrap();
        let never = AtomicBool::new(false);
        // What a killed prony leaves: a copy whose lock nobody holds.
        fs::create_dir_all(place.build.join("copy-1-1/data")).unwrap();
        File::create(place.build.join("copy-1-1.lock")).unwrap();
        let lock = place.lock(&never).unwrap();
        assert_eq!(names(&place), ["lock"]);
        let copy = place.copy(None, None, &lock).unwrap();
        drop(lock);
        drop(place.lock(&never).unwrap());
        assert!(copy.data().is_dir(), "a copy in use stays");
        drop(copy);
        assert_eq!(names(&place), ["lock"]);
    }

    #[test]
    fn a_template_appears_whole_and_replaces_older_ones() {
        let folder = tempfile::tempdir().unwrap();
        let place = Place::open("x", folder.path()).unwrap();
        let lock = place.lock(&AtomicBool::new(false)).unwrap();
        for hash in ["a", "b"] {
            let new = place.begin(None, &lock).unwrap();
            fs::write(new.join("data/f"), hash).unwrap();
            place.finish(&new, hash, &lock).unwrap();
        }
        assert_eq!(names(&place), ["data-b", "lock"]);
        let copy = place.copy(Some(&place.template("b")), None, &lock).unwrap();
        assert_eq!(fs::read_to_string(copy.data().join("f")).unwrap(), "b");
    }

    #[test]
    fn a_lock_that_is_held_is_named_and_waiting_can_be_called_off() {
        let folder = tempfile::tempdir().unwrap();
        let place = Place::open("x", folder.path()).unwrap();
        let never = AtomicBool::new(false);
        let _lock = place.lock(&never).unwrap();
        let text = place.lock_within(Duration::ZERO, &never).unwrap_err().to_string();
        assert!(text.contains("another prony") && text.contains(".build/lock"), "{text}");
        let text = place.lock_within(LOCK_TIMEOUT, &AtomicBool::new(true)).unwrap_err().to_string();
        assert_eq!(text, "service x: called off");
    }
}
