//! What can go wrong between a controller and its agents. Each error names the agent.

use fleet::{BundleError, ClockError, DeliveryError};
use std::time::Duration;
use units::format;

/// Agents that an error names; there may be thousands.
const NAMED_MAX: usize = 8;

/// What to do, unless the cause says so already.
fn remedy(cause: &str, general: &str) -> String {
    if cause.contains("remedy: ") { String::new() } else { format!("\n  remedy: {general}") }
}

/// Why agents cannot make a load together.
#[derive(Debug, thiserror::Error)]
pub enum AgentError {
    /// It cannot be reached.
    #[error(
        "agent {name} cannot be reached: {cause}{}",
        remedy(cause, "start it, or correct its entry in the fleet")
    )]
    Unreached {
        /// Its name.
        name: String,
        /// Why.
        cause: String,
    },
    /// A link needs a thread, and this host has no more of them.
    #[error(
        "agent {name}: this host starts no further thread after those of {links} links ({source})\n  remedy: fewer \
         agents, or raise vm.max_map_count (4 for each agent), kernel.threads-max and the limit of processes"
    )]
    NoThread {
        /// Its name.
        name: String,
        /// Links that have theirs.
        links: usize,
        /// What the system says.
        source: std::io::Error,
    },
    /// It said that it will not.
    #[error("agent {name} refuses: {cause}")]
    Refused {
        /// Its name.
        name: String,
        /// What it said.
        cause: String,
    },
    /// It is another program, or another prony.
    #[error(
        "agent {name} speaks version {theirs} of the words between agents, and this prony {ours}\n  remedy: use the \
         same prony on both ends"
    )]
    Version {
        /// Its name.
        name: String,
        /// Its version.
        theirs: u32,
        /// This one's.
        ours: u32,
    },
    /// Its clock is not known well enough to begin together.
    #[error("agent {name}: {source}")]
    Clock {
        /// Its name.
        name: String,
        /// How well.
        source: ClockError,
    },
    /// Its link ended before its part of the load did.
    #[error(
        "agent {name} was lost in the middle of the load ({cause}); the trial is void and the others were ended"
    )]
    Lost {
        /// Its name.
        name: String,
        /// What was seen.
        cause: String,
    },
    /// Some said nothing for too long.
    #[error("nothing was heard of agent {} for {} s; the trial is void and the others were ended",
        format::listed_some(names, NAMED_MAX), silence.as_secs())]
    Silent {
        /// Their names; at least one.
        names: Vec<String>,
        /// How long nothing came.
        silence: Duration,
    },
    /// It was asked to end, and what became of it is not known.
    #[error(
        "the link to agent {name} was lost before it said that it ended\n  remedy: look at it with `prony fleet list`"
    )]
    EndUnknown {
        /// Its name.
        name: String,
    },
    /// It could not make its part.
    #[error("agent {name}: {cause}")]
    Failed {
        /// Its name.
        name: String,
        /// What it said.
        cause: String,
    },
    /// It said something that is no report.
    #[error("agent {name} cannot be understood: {cause}; please report this")]
    Garbled {
        /// Its name.
        name: String,
        /// What is wrong.
        cause: String,
    },
    /// What came is not what it sent.
    #[error("the results of agent {name} are not whole: {source}; the trial is void")]
    Delivery {
        /// Its name.
        name: String,
        /// What is wrong.
        source: DeliveryError,
    },
    /// A file of the load.
    #[error(transparent)]
    Bundle(#[from] BundleError),
    /// The load cannot be made by agents.
    #[error("{what} cannot be made by a fleet: {cause}\n  remedy: {remedy}")]
    NotPortable {
        /// Which setting.
        what: &'static str,
        /// Why.
        cause: String,
        /// What to do.
        remedy: &'static str,
    },
}
