//! HTTP/2 (RFC 9113) from the client's side, without sockets and clocks: requests are framed, and each [`Connection`] writes
//! them, reads answers and keeps the peer within limits (ADR 0032).
//!
//! Absent on purpose: server push (refused), priorities (ignored), CONNECT, opinions on whether an answer is right, and what
//! belongs to time: time-outs, and the length of a [`Connection::tick`].

mod answers;
mod code;
mod connection;
mod control;
mod data;
mod events;
mod fault;
mod fields;
mod flow;
mod frame;
mod framing;
mod input;
pub mod limits;
mod memo;
mod parcel;
mod parts;
mod plan;
mod receive;
mod ring;
mod send;
mod settings;
mod translate;

pub use code::ErrorCode;
pub use connection::{Config, Connection, NoRoom, Room, WINDOW_BITS_MAX, Windows};
pub use events::{Events, Place, Refusal, Verdict};
pub use fault::Fault;
pub use fields::is_of_connection;
pub use framing::Http2;
pub use limits::Counts;
pub use plan::Plan;
pub use send::{Given, Held, Put};
pub use settings::{DEFAULT_WINDOW_BYTES, FieldError, Settings};
