//! The load generator: pinned workers, each with its own event loop, connections, schedule and histograms.
//!
//! Invariants:
//! - The hot path (schedule → write → read → parse → record) has no channel, lock, allocation or shared atomic per
//!   request. A worker looks at the shared control only when an interval ends and every 100 ms, and hands a finished
//!   interval over by swapping buffers.
//! - Intended times never wait for answers (open loop); lateness is recorded, never corrected afterwards.
//! - scheduled = completed + failed + censored, asserted by every worker when it ends.
//!
//! Absent on purpose: an async runtime, results (the analyze crate), files (the runner), and any opinion on whether
//! the numbers are good.

mod assembly;
mod book;
mod canary;
mod clocks;
mod control;
mod core;
mod drawer;
mod driver;
mod error;
mod failure;
mod fate;
mod fifo;
mod generator;
mod hand_over;
mod instrument;
mod interval;
mod job;
mod layer;
mod lazy_histogram;
mod names;
mod opening;
mod origin;
mod parcel;
mod part;
mod protocol;
mod redirects;
mod resident;
mod rows;
mod standing;
mod sync;
mod tally;
mod tls;
mod way;
mod worker;

pub use assembly::{Assembly, Overdue};
pub use canary::fixed_work;
pub use clocks::{Clocks, Look, MachineClocks};
pub use control::Timeline;
pub use error::{EngineError, SetupFailures};
pub use generator::{Generator, Step, drivers};
pub use instrument::measure as measure_instrument;
pub use interval::{
    Account, ByClass, Counts, EntryData, IntervalData, MessageAccount, MessageCounts, MessageTimes, Notable,
    Notables, Sent, Stall, Stalls, StreamCounts, Times, TokenAnswers,
};
pub use job::{Job, Scripts};
pub use lazy_histogram::LazyHistogram;
pub use names::Lookup;
pub use opening::setup_time_max;
pub use origin::{machine_ns, on_clock};
pub use parcel::{Most, Parcel, ParcelError};
pub use part::Part;
pub use redirects::Redirects;
pub use resident::give_back_pages;
pub use rows::{Outcome, Row, RowSinks, RowSource, rows};
pub use standing::give_way;
pub use tally::new_histogram;
pub use tls::{Identity, Roots, Tls, TlsError};
pub use way::{Origin, Proxy, Way};
