//! Services that targets need: their manifests, build, data, start, checks and end.
//!
//! Invariants: every process of a service runs under the guard, like a target's; the data that a service runs on is
//! a copy of a template that was seeded and checked once, so that no run sees what another one wrote; a copy is
//! locked for as long as its owner lives, and the next start removes copies without an owner.
//! Absent on purpose: who needs which service (the runner's plan), and versions of data: a changed manifest, seed
//! or program makes a new template.

mod catalog;
mod copy;
mod error;
mod manifest;
mod names;
mod place;
mod prepare;
mod running;
mod step;
mod up;
mod workshop;

pub use catalog::{ServiceEntry, catalog, find, need_states};
pub use error::ServiceError;
pub use running::{RunningService, start};

use std::path::Path;
use std::sync::atomic::AtomicBool;

/// What starting a service needs of the outside.
#[derive(Clone, Copy, Debug)]
pub struct Host<'a> {
    /// prony's own binary, which becomes the guard.
    pub launcher: &'a Path,
    /// CPUs that services may use; as the caller where absent.
    pub cpus: Option<&'a [u32]>,
    /// Whether services have networks of their own, for targets that have.
    pub isolated: bool,
    /// Set to call the work off.
    pub cancelled: &'a AtomicBool,
}
