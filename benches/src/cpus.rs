//! Which CPU the generators and which the server run on.
//!
//! A child takes over the CPU set of the thread that starts it, so the set of this thread is changed for the moment of
//! the start only. Nothing is left changed.

use crate::error::BenchError;
use launch::pin;
use serde::Serialize;
use std::path::Path;
use std::process::{Child, Command};

/// The CPUs of a benchmark.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(crate) struct Cpus {
    /// All that this process may use.
    usable: Vec<u32>,
    /// The first one.
    pub(crate) generator: u32,
    /// The last one.
    pub(crate) server: u32,
}

impl Cpus {
    /// Splits the CPUs that this process may use.
    ///
    /// # Errors
    /// The system does not tell them.
    pub(crate) fn of_this_process() -> Result<Self, BenchError> {
        Self::split(&pin::usable_cpus().map_err(BenchError::Pin)?)
            .ok_or_else(|| BenchError::Pin(std::io::Error::other("no CPU may be used")))
    }

    fn split(usable: &[u32]) -> Option<Self> {
        let (generator, server) = (*usable.first()?, *usable.last()?);
        Some(Self { usable: usable.to_vec(), generator, server })
    }

    /// Whether generator and server share a CPU because there is only one.
    pub(crate) fn shared(&self) -> bool {
        self.generator == self.server
    }

    /// Starts `command` confined to `cpu`.
    ///
    /// # Errors
    /// The CPU set cannot be changed, or the program cannot be started.
    pub(crate) fn start_on(&self, cpu: u32, command: &mut Command) -> Result<Child, BenchError> {
        pin::confine_this_thread(&[cpu]).map_err(BenchError::Pin)?;
        let child = command.spawn();
        pin::confine_this_thread(&self.usable).map_err(BenchError::Pin)?;
        child.map_err(|cause| BenchError::Start {
            program: Path::new(command.get_program()).to_owned(),
            cause,
        })
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use std::process::Stdio;

    /// These CPUs, of which there is at least one.
    pub(crate) fn cpus(usable: &[u32]) -> Cpus {
        Cpus::split(usable).unwrap()
    }

    #[test]
    fn first_and_last_are_taken_and_one_is_said_to_be_shared() {
        let check = |usable: &[u32], wanted: Option<(u32, u32, bool)>| {
            let got = Cpus::split(usable).map(|cpus| (cpus.generator, cpus.server, cpus.shared()));
            assert_eq!(got, wanted);
        };
        check(&[], None);
        check(&[3], Some((3, 3, true)));
        check(&[0, 1], Some((0, 1, false)));
        check(&[2, 5, 7], Some((2, 7, false)));
    }

    #[test]
    fn a_child_is_confined_and_this_thread_is_not() {
        let before = pin::usable_cpus().unwrap();
        let cpus = Cpus::of_this_process().unwrap();
        let mut command = Command::new("cat");
        command.arg("/proc/self/status").stdout(Stdio::piped());
        let child = cpus.start_on(cpus.server, &mut command).unwrap();
        let output = child.wait_with_output().unwrap();
        let status = String::from_utf8(output.stdout).unwrap();
        let allowed = status.lines().find_map(|line| line.strip_prefix("Cpus_allowed_list:")).unwrap();
        assert_eq!(allowed.trim(), cpus.server.to_string());
        assert_eq!(pin::usable_cpus().unwrap(), before);
    }
}
