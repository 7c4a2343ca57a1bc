//! Time, rate, count and size types, the clock, and seeded randomness.
//!
//! Invariants: every quantity that crosses a crate border has its unit in its type or, for raw integers, as the
//! last word of its name; parsing accepts what users of wrk and hey already type (`30s`, `2m`, `10k`) and nothing
//! ambiguous; randomness is a function of a written seed only.
//! How numbers look to people has its one home here, too: [`mod@format`].
//! Absent on purpose: wall-clock time, and any IO.

mod clock;
mod draw;
pub mod format;
mod parse;
mod quantity;
mod seed;
mod trace;
mod users;

pub use clock::{Clock, MonotonicClock};
pub use draw::Draw;
pub use parse::ParseQuantityError;
pub use quantity::{BitsPerSecond, Bytes, Count, Nanos, PerSecond};
pub use seed::{Rng, Seed};
pub use trace::{TraceContext, Tracing};
pub use users::{ParseUsersError, Users};

/// Longest time that a histogram tells apart: one hour (METHOD §10). Longer ones count as an hour.
pub const TIME_NS_MAX: u64 = 3_600_000_000_000;
/// Significant digits of times in histograms (METHOD §10).
pub const TIME_DIGITS: u8 = 3;
