//! Logs with known truth: what is modelled, written and replayed must be what is in them.

mod made;
mod modelled;
mod replayed;
mod sessions;
