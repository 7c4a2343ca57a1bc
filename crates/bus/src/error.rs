//! Why there is no stream over a bus.

use std::io;

/// Why there is no stream over a bus.
#[derive(Debug, thiserror::Error)]
pub enum BusError {
    /// The server does not answer, or is none.
    #[error(
        "{server}: {cause}\n  remedy: look whether a NATS server listens there; where it asks for a user, put `user` and \
         `password` into nats.toml beside the keys"
    )]
    Unreachable {
        /// As it was given.
        server: String,
        /// Why.
        cause: String,
    },
    /// The server wants to know who is there, or someone else.
    #[error(
        "{server} does not let us in ({cause})\n  remedy: put `user` and `password` into nats.toml beside the \
         keys"
    )]
    NotAllowed {
        /// As it was given.
        server: String,
        /// In the server's words.
        cause: String,
    },
    /// Messages of this server are too short for pieces of a stream.
    #[error("{server} takes messages of {bytes} bytes at most\n  remedy: let it take 64 KiB (max_payload)")]
    Narrow {
        /// As it was given.
        server: String,
        /// Its limit.
        bytes: usize,
    },
    /// Nobody has joined the bus under this name.
    #[error(
        "no agent called {agent} is on {server}\n  remedy: begin it with `prony agent --join`, and look at its name and at \
         the subjects that it may use"
    )]
    Nobody {
        /// As it was given.
        server: String,
        /// Who was asked for.
        agent: String,
    },
    /// It has joined and says nothing, or takes no further stream.
    #[error("{agent} on {server}: {cause}")]
    Refused {
        /// As it was given.
        server: String,
        /// Who was asked for.
        agent: String,
        /// In its words.
        cause: String,
    },
    /// The system gives no thread or no socket.
    #[error("{0}")]
    System(#[from] io::Error),
}
