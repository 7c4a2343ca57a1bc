//! From an experiment to a run folder: resolve the plan, run blocks of trials, write down what happened.
//!
//! Invariants: everything is decided and validated before the first request; a trial folder has a `trial.json` only
//! if the trial ended, and that file is written last and atomically; a run that is cut off loses at most the trial
//! in progress and can be resumed; after a trial nothing of its target is left.
//! Absent on purpose: statistics (analyze), what people see (report, cli), and the sending of requests (engine).

mod adaptive;
mod allocation;
mod audit;
pub mod calibrate;
mod canary;
pub mod check;
mod competing;
mod confined;
pub mod each;
mod error;
mod events;
mod experiment;
pub mod hgrm;
pub mod hooks;
pub mod intervene;
pub mod login;
pub mod measure;
pub mod net;
pub mod origins;
mod own_count;
mod phases;
pub mod ports;
pub mod processes;
pub mod profiled;
pub mod proxy;
pub mod recorded;
pub mod resolve;
pub mod script;
mod search;
mod sent;
mod services;
mod so_far;
pub mod soak;
pub mod state;
mod steady;
pub mod tls;
mod trial;
pub mod tune;
pub mod versions;
mod way;

pub use audit::audit;
pub use error::RunnerError;
pub use experiment::{Environment, Observer, Outcome, project_of, resume, run};
