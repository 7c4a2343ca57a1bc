//! A run with its analysis: what it was planned to be, what it found, and what several runs say together.
//!
//! `page` puts the sections into words once; `text`, `markdown` and `html` give them their shape, `front_end` the data.

pub(crate) mod across;
pub(crate) mod advice;
pub(crate) mod agents;
pub(crate) mod capacity;
pub(crate) mod ci;
pub(crate) mod csv;
pub(crate) mod effects;
pub(crate) mod events;
pub(crate) mod findings;
pub(crate) mod front_end;
pub(crate) mod html;
pub(crate) mod intervention;
pub(crate) mod junit;
pub(crate) mod layers;
pub(crate) mod levels;
pub(crate) mod limits;
pub(crate) mod markdown;
pub(crate) mod memory;
pub(crate) mod messages;
pub(crate) mod page;
pub(crate) mod plan;
pub(crate) mod ranking;
pub(crate) mod requests;
pub(crate) mod settings;
pub(crate) mod shift;
pub(crate) mod soak;
pub(crate) mod spans;
pub(crate) mod steady;
pub(crate) mod text;
pub(crate) mod usual;
pub(crate) mod why;
