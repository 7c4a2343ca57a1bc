//! Arguments or a file become one resolved plan: every default filled in, every mistake found before anything runs.
//!
//! Invariants: a setting is checked in one place, whether it comes from a file or from a flag; a mistake has its key, so
//! that a file names the line and the command line names the flag; nothing is sent, and no socket is connected.
//! Absent on purpose: the load generator and script interpreters, which a test holds; run folders, targets in progress
//! (runner).

mod context;
pub mod defaults;
mod each;
mod error;
mod experiment;
pub mod fleet;
mod grpc;
pub mod hooks;
mod job;
mod load;
mod notes;
mod place;
mod scenario;
mod single;
mod wrong;

pub use context::{Context, project_above};
pub use each::{EachFormat, EachPlan, EachPlanError};
pub use error::PlanError;
pub use experiment::{
    CONFIRMATIONS, KneeWishes, Levels, PROFILE_WINDOWS, SearchWishes, TOLERANCE, UP_DOWN_BLOCKS, add_blocks,
    alarm, capacity, experiment, load_words, longest_ns, pilot, short,
};
pub use grpc::{Ask, Reflection, Unanswered};
pub use job::{LoadJob, NameLookup};
pub use load::{intervals, ports, processes, recorded};
pub use notes::{fewer_streams, notes};
pub use place::{login, net, origins, proxy, tls};
pub use scenario::{call_scenario, chunk_bytes, load_contract, load_scenario, load_scenario_file};
pub use single::{Reach, Single, reach, schedule, single};
pub use wrong::Wrong;
