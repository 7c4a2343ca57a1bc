//! The engine against servers of this process, on every driver. One binary, because each would link the engine again; what
//! measures its own memory is apart, and so are the models of threads (`hand_over`).

mod common;
mod endings;
mod entries;
mod faults;
mod http2;
mod load;
mod origins;
mod queueing;
mod rows;
mod set_up;
mod stalls;
mod tls;
mod tls_faults;
mod traced;
