//! Why a load cannot begin or go on.

use pace::PaceError;
use schema::load::ErrorClass;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::time::Duration;

/// Why a load cannot begin or go on.
#[derive(Debug, thiserror::Error)]
pub enum EngineError {
    /// A rate, law, shape or think time that cannot be.
    #[error(transparent)]
    Pace(#[from] PaceError),
    /// A plan that contradicts itself.
    #[error("{0}")]
    Plan(&'static str),
    /// The operating system refused something the generator needs.
    #[error("the generator cannot {what}: {source}")]
    System {
        /// What was tried.
        what: &'static str,
        /// The system's answer.
        source: std::io::Error,
    },
    /// The driver asked for does not work on this kernel.
    #[error("io_uring cannot be used here: {0}; use --driver auto or --driver epoll")]
    NoUring(String),
    /// Not one connection could be opened; nothing was sent.
    #[error("no connection could be opened: {example} ({asked} tried); check that the target listens there")]
    NothingConnected {
        /// Connections asked for.
        asked: u64,
        /// Failed attempts by class; the sum is `asked`.
        failures: BTreeMap<ErrorClass, u64>,
        /// Text of the first failure.
        example: String,
    },
    /// A worker panicked or went silent: a defect of prony.
    #[error("a worker died: {0}; please report this")]
    Worker(String),
    /// Workers said nothing for too long.
    #[error(
        "worker {} of the generator has said nothing for {} s: a script that never returns, or a thread that gets no \
         CPU; the load was given up", units::format::listed(workers), silence.as_secs()
    )]
    Silent {
        /// Their numbers, counted from 0.
        workers: Vec<u64>,
        /// How long nothing came.
        silence: Duration,
    },
    /// A worker learned of the samples too late; the trial cannot be used.
    #[error("a worker was too late for the begin of the samples; the machine stalled: run the trial again")]
    MissedStart,
}

/// Connection attempts that failed while the load was set up.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
pub struct SetupFailures {
    /// How many, by class.
    pub by_class: BTreeMap<ErrorClass, u64>,
    /// Text of one of them.
    pub example: Option<String>,
}

impl SetupFailures {
    /// Adds another generator's.
    pub fn add(&mut self, other: &Self) {
        for (class, count) in &other.by_class {
            *self.by_class.entry(*class).or_insert(0) += count;
        }
        self.example = self.example.take().or_else(|| other.example.clone());
    }

    /// The error of a load of which no attempt of `asked` succeeded.
    #[must_use]
    pub fn nothing_connected(&self, asked: u64) -> EngineError {
        let example = self.example.clone().unwrap_or_else(|| "stopped before any was tried".to_owned());
        EngineError::NothingConnected { asked, failures: self.by_class.clone(), example }
    }
}
