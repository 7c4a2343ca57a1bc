//! What to send and what a right answer is, compiled before the load begins.
//!
//! Invariants: every mistake of a scenario is reported when it is compiled, before anything is sent; what is static is
//! rendered once, the rest without an allocation per request. An answer's status and exact body are judged while its
//! bytes pass by, without keeping them; only checks of content keep a bounded part ([`Notes`]). The same seed gives the
//! same bytes in the same order whatever the number of workers.
//! Absent on purpose: sockets, and when a request is sent.

mod check;
mod feeder;
mod program;
pub mod protobuf;
pub mod script;
mod stream;
mod template;
mod token;
mod traffic;

pub use check::{
    Answer, Call, CallCheck, Check, CheckError, CookieJar, FailureLog, Judge, Judged, MessageRule, Notes,
    Pointer, Rule, decoded, same_number,
};
pub use program::{
    Bytes, CAPTURED_BYTES_MAX, Captured, Framed, Made, MakeCause, MakeError, Maker, Program, ProgramError,
    User, untraceable,
};
pub use stream::StreamRule;
pub use token::TokenUse;
pub use traffic::{SessionSettings, Traffic};
pub use wire::EncodeError;
