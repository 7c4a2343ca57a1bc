//! Systems under test: their manifests, build, start, readiness, contract and end; and which CPUs serve whom.
//!
//! Invariants: a target is started only through the guard ([`guard`]), so that no process of it outlives prony, not
//! even prony's own death by SIGKILL; a target is called ready only after a good answer, and called stopped only
//! after its last process is gone and its port is free; answers of targets are hostile input: every read has a
//! deadline and a limit, and what is shown of them is bounded and stripped of control characters.
//! Absent on purpose: load, measurement, and the reference target itself (crate testkit), which is started here as a
//! plain command.

mod build;
mod catalog;
pub mod confine;
pub mod contract;
mod errand;
mod error;
mod fresh;
pub mod guard;
mod image;
mod json_diff;
pub mod knobs;
pub mod manifest;
mod manifest_parts;
mod need;
pub mod pin;
mod program;
mod ready;
mod running;
mod scaffold;
mod scratch;
pub mod service;
mod start;
mod tail;
mod template;

pub use build::{build, build_command, build_variant, remove_build};
pub use catalog::{CatalogEntry, catalog, find, names};
pub use errand::Errand;
pub use error::TargetError;
pub use fresh::{BuildState, build_state};
pub use guard::Exit;
pub use image::{Image, image_needs, unpack};
pub use need::{NeedState, needs, require_all};
pub use ready::reachable;
pub use running::RunningTarget;
pub use scaffold::scaffold;
pub use scratch::Scratch;
pub use start::{StartPlan, start};
pub use tail::last_lines;
