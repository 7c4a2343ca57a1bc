//! From an experiment to a run folder: resolve the plan, run blocks of trials, write down what happened.
//!
//! Invariants: everything is decided and validated before the first request; a trial folder has a `trial.json` only
//! if the trial ended, and that file is written last and atomically; a run that is cut off loses at most the trial
//! in progress and can be resumed; after a trial nothing of its target is left.
//! Absent on purpose: statistics (analyze), what people see (report, cli), and the sending of requests (engine).

mod adaptive;
mod allocation;
mod audit;
mod bring_up;
pub mod calibrate;
mod canary;
pub mod check;
mod competing;
mod confined;
mod environment;
mod error;
mod events;
mod experiment;
pub mod hooks;
mod interim;
pub mod intervene;
mod observer;
mod planned_trial;
pub mod profiled;
pub mod reference;
mod rerun;
mod search;
mod server_counts;
mod services;
pub mod soak;
pub mod state;
mod steady;
mod trial;
pub mod tune;
pub mod versions;
mod workshop;

pub use audit::audit;
pub use environment::{Environment, Outcome};
pub use error::RunnerError;
pub use experiment::{resume, run};
pub use observer::Observer;
pub use workshop::project_of;
