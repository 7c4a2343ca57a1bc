//! TLS by rustls, without an async runtime: a layer between the driver and the core.
//!
//! Data path: the driver's bytes are copied behind what is left of an earlier read, decrypted in place, and handed to
//! the core record by record; the core's bytes are encrypted into a buffer of the worker and given to the driver.
//!
//! Invariants:
//! - The core never sees a connection before its handshake is done, nor any byte of cipher text.
//! - A session that waits owns no buffer of its own: what is used during a read or a write belongs to the worker, and
//!   only a record that is not whole yet, or that the driver did not take, is kept with the session. What it costs
//!   is rustls' own state, nearly 4 KiB (`tests/tls_memory.rs`).
//! - This layer allocates nothing per request; rustls itself makes one short-lived buffer for each record.
//! - Workers share no session store: each has its own, so a ticket never crosses threads.
//!
//! Errors: every error of TLS is of the class `tls`, in the handshake and after it. A reset keeps its class. The end
//! of a connection without close_notify is no TLS error but `premature_close` for the request on it: a truncated
//! body must not count as whole (RFC 9112 §9.8, RFC 8446 §6.1); an answer that was whole before stands.
//! Absent on purpose: kernel TLS, early data, renegotiation, revocation.

mod config;
mod failure;
mod handler;
mod session;
mod table;
mod verify;

pub use config::{Identity, Roots, Tls, TlsError};
pub(crate) use failure::alert_text;
pub(crate) use handler::TlsLayer;
