//! What can go wrong between several processes.

use std::process::ExitStatus;
use std::time::Duration;

/// Why several processes cannot make a load.
#[derive(Debug, thiserror::Error)]
pub enum ProcessError {
    /// The system did not start one.
    #[error("cannot start a generator process: {0}; use fewer connections, or raise the limit of processes")]
    Spawn(std::io::Error),
    /// One ended before its part of the load did.
    #[error(
        "generator process {pid} ended in the middle of the load ({status}); the others were ended; \
         if nobody killed it, look for a lack of memory (dmesg)"
    )]
    Died {
        /// Its process identifier.
        pid: u32,
        /// How it ended.
        status: ExitStatus,
    },
    /// Some said nothing for too long.
    #[error(
        "generator process {} has said nothing for {} s: it is stopped (state T in `ps`), or gets no CPU; the load was \
         given up and its processes were ended",
        units::format::listed(pids), silence.as_secs()
    )]
    Silent {
        /// Their process identifiers; at least one.
        pids: Vec<u32>,
        /// How long nothing came.
        silence: Duration,
    },
    /// One could not make its part of the load.
    #[error("generator process {pid}: {cause}")]
    Failed {
        /// Its process identifier.
        pid: u32,
        /// What it said.
        cause: String,
    },
    /// One said something that is no report.
    #[error("generator process {pid} cannot be understood: {cause}; please report this")]
    Garbled {
        /// Its process identifier.
        pid: u32,
        /// What is wrong.
        cause: String,
    },
    /// The system did not let one be waited for.
    #[error("cannot learn how generator process {pid} ended: {source}")]
    Wait {
        /// Its process identifier.
        pid: u32,
        /// The system's reason.
        source: std::io::Error,
    },
}
