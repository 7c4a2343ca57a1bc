//! What many machines need to make one load: an offset between clocks with its bound, results that arrive exactly once,
//! files named by their hash, an allow list of the agent's own, keys, and a lease that ends the load when nobody renews it.
//!
//! Invariants: everything here is a function of what it is given: no clock is read, no socket opened, nothing waits; only
//! [`Store`] touches files. A result counts once or the load is void, whatever was lost, repeated or reordered on the way;
//! `tests/delivery.rs` searches all such histories.
//! Absent on purpose: the words on the wire and who says them (`generate::agents`), and how agents are started.

mod allow;
mod bundle;
mod clock;
mod delivery;
mod keys;
mod lease;

pub use allow::{Allow, AllowError};
pub use bundle::{Arriving, BundleError, FileRef, Store, describe, hex};
pub use clock::{BOUND_MAX_NS, ClockError, EXCHANGES_MIN, Exchange, Grid, Offset};
pub use delivery::{DeliveryError, Digest, Inbox, Manifest, Outbox, Parcel, Sums, digest};
pub use keys::{
    AUTHORITY_FILE, Authority, CERTIFICATE_FILE, KEY_FILE, KeyError, KeyPairText, LOGIN_FILE, Role,
    check_name,
};
pub use lease::Lease;
