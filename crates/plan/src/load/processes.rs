//! How many workers and processes a load needs, by the descriptors that the system allows one process.

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

/// Descriptors of a process besides its connections: rings, pipes, files, libraries.
const RESERVE: u64 = 256;
/// Where the system sets no limit.
const UNLIMITED: u64 = 1 << 20;

/// Raises this process's soft limit of descriptors to the hard one, for itself and what it starts.
pub fn raise_descriptor_limit() {
    let limit = getrlimit(Resource::Nofile);
    if limit.current != limit.maximum {
        // Refused: the soft limit holds, and the number of processes follows from it.
        let _ = setrlimit(Resource::Nofile, Rlimit { current: limit.maximum, maximum: limit.maximum });
    }
}

/// Connections that one process can hold by its limit of descriptors.
#[must_use]
pub fn connections_per_process() -> u32 {
    let limit = getrlimit(Resource::Nofile).current.unwrap_or(UNLIMITED).min(UNLIMITED);
    // Under a tiny limit half of it is kept back.
    (limit - RESERVE.min(limit / 2)).max(1) as u32
}

/// What a load needs to be shared out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Wanted {
    /// Most connections at a time.
    pub connections: u32,
    /// Workers that the user wants.
    pub workers: Option<u32>,
    /// Workers where the user has no wish.
    pub workers_default: u32,
    /// Processes that the user wants.
    pub processes: Option<u32>,
}

/// Workers and the processes that share them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Spread {
    /// Generator threads in total.
    pub workers: u32,
    /// Processes; at most one for each worker.
    pub processes: u32,
}

/// Why a load cannot be shared out as wanted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SpreadError {
    /// A number of zero, or more workers than connections.
    #[error(
        "{workers} workers cannot share {connections} connections; give each worker at least one connection"
    )]
    Workers {
        /// Wanted workers.
        workers: u32,
        /// Connections.
        connections: u32,
    },
    /// More processes than workers.
    #[error("{processes} processes cannot share {workers} workers; give each process at least one worker")]
    Processes {
        /// Wanted processes.
        processes: u32,
        /// Workers.
        workers: u32,
    },
    /// A worker would have more connections than its process has descriptors.
    #[error(
        "{workers} workers for {connections} connections are too few: a process may have {per_process} \
         connections here; give at least {least} workers, or leave their number to prony"
    )]
    Descriptors {
        /// Wanted workers.
        workers: u32,
        /// Connections.
        connections: u32,
        /// Connections of a process.
        per_process: u32,
        /// Fewest workers.
        least: u32,
    },
}

/// Shares a load out over workers and processes of at most `per_process` connections each. Wanted processes are taken
/// as they are: what does not fit then fails as `descriptor_limit` and is counted.
///
/// # Errors
/// When the wishes contradict each other or the limit.
pub fn spread(wanted: Wanted, per_process: u32) -> Result<Spread, SpreadError> {
    let Wanted { connections, .. } = wanted;
    let needed = connections.div_ceil(per_process.max(1)).max(1);
    let processes_least = wanted.processes.unwrap_or(needed);
    let workers = wanted.workers.unwrap_or_else(|| {
        // A multiple, so that every process has the same number.
        let at_least = wanted.workers_default.max(processes_least);
        at_least.next_multiple_of(processes_least.max(1)).min(connections)
    });
    if workers == 0 || workers > connections {
        return Err(SpreadError::Workers { workers, connections });
    }
    if let Some(processes) = wanted.processes {
        return if (1..=workers).contains(&processes) {
            Ok(Spread { workers, processes })
        } else {
            Err(SpreadError::Processes { processes, workers })
        };
    }
    let per_worker = connections.div_ceil(workers);
    let fits = |processes: &u32| {
        u64::from(workers.div_ceil(*processes)) * u64::from(per_worker) <= u64::from(per_process)
    };
    match (needed..=workers).find(|processes| needed == 1 || fits(processes)) {
        Some(processes) => Ok(Spread { workers, processes }),
        None => Err(SpreadError::Descriptors { workers, connections, per_process, least: needed }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(
        connections: u32,
        workers: Option<u32>,
        processes: Option<u32>,
    ) -> Result<(u32, u32), SpreadError> {
        let wanted = Wanted { connections, workers, workers_default: 2, processes };
        let spread = spread(wanted, 1000)?;
        let most = spread.workers.div_ceil(spread.processes) * connections.div_ceil(spread.workers);
        assert!(most <= 1000 || processes.is_some(), "{connections}: {spread:?} gives {most}");
        Ok((spread.workers, spread.processes))
    }

    #[test]
    fn as_few_processes_as_the_limit_allows() {
        for (connections, workers, processes) in
            [(1, 1, 1), (64, 2, 1), (1000, 2, 1), (1001, 2, 2), (2500, 3, 3), (3001, 4, 4), (50_000, 50, 50)]
        {
            assert_eq!(check(connections, None, None), Ok((workers, processes)), "{connections}");
        }
    }

    #[test]
    fn wishes_are_kept_or_refused() {
        assert_eq!(check(30, None, Some(3)), Ok((3, 3)));
        assert_eq!(check(30, Some(7), Some(3)), Ok((7, 3)));
        assert_eq!(check(5000, None, Some(1)), Ok((2, 1)), "the limit then shows in the result");
        assert_eq!(check(2500, Some(4), None), Ok((4, 4)), "two workers of 625 would not fit together");
        assert_eq!(check(2500, Some(8), None), Ok((8, 3)));
        assert!(matches!(check(2500, Some(2), None), Err(SpreadError::Descriptors { least: 3, .. })));
        assert!(matches!(check(30, Some(2), Some(3)), Err(SpreadError::Processes { .. })));
        assert!(matches!(check(30, None, Some(0)), Err(SpreadError::Processes { .. })));
        assert!(matches!(check(2, Some(3), None), Err(SpreadError::Workers { .. })));
        assert!(matches!(check(2, Some(0), None), Err(SpreadError::Workers { .. })));
    }

    #[test]
    fn a_process_keeps_descriptors_for_itself() {
        let limit = getrlimit(Resource::Nofile).current.unwrap_or(UNLIMITED);
        assert!(u64::from(connections_per_process()) < limit.max(2));
    }
}
