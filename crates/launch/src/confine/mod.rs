//! Confining one target for one trial: control groups and a network of its own, made by its guard before the program
//! is executed, read back, and removed by the guard after its last process is gone.
//!
//! ```text
//! guard: Boundary::set ── groups, namespace ──▶ guard-exec: join ──exec──▶ program
//!        Boundary::check (membership)   …   Boundary::remove
//! ```
//!
//! Invariants: what is set is read back, and only what was read is recorded; what cannot be had becomes a weakness,
//! never silence; names of groups and tables carry the guard's process identifier and start, so that [`sweep()`] can
//! tell those whose guard was killed; a namespace has no name and no mount: the guard holds it open, and the kernel
//! removes it, with its devices, when guard and target are gone.
//! Absent on purpose: what limits mean (the runner resolves them), and counters (crate collect reads the groups).

mod cgroup;
mod join;
mod lock;
mod name;
mod netns;
mod node;
mod path;
mod relay;
mod space;
mod subnet;
mod sweep;
pub mod sysctl;
mod tool;
mod traffic;
mod trips;
mod tun;
mod wanted;

pub use name::Owner;
pub use subnet::Subnet;
pub use sweep::{Swept, sweep};
pub use wanted::ServicePlace;

pub(crate) use join::Join;
pub(crate) use netns::NoNetwork;
pub(crate) use subnet::Subnets;
pub(crate) use wanted::Wanted;

use crate::guard::Change;
use cgroup::{Groups, Roots};
use netns::Network;
use schema::limits::{Confinement, MemoryLock, RelayUsage};
use schema::said;
use schema::said::Said;
use std::path::Path;

/// All that surrounds one target.
pub(crate) struct Boundary {
    groups: Groups,
    network: Option<Network>,
    memory_lock: Option<MemoryLock>,
    confinement: Confinement,
}

impl Boundary {
    /// Makes groups and network. Nothing of them is left where it fails.
    pub(crate) fn set(wanted: &Wanted) -> Result<Self, NoNetwork> {
        let mut confinement = Confinement { weaknesses: wanted.weaknesses.clone(), ..Confinement::default() };
        let owner = match Owner::this_process() {
            Ok(owner) => owner,
            Err(cause) => return Err(NoNetwork(cause)),
        };
        confinement.name = owner.to_string();
        let network = match &wanted.subnets {
            Some(subnets) => Some(Network::make(&owner, subnets, wanted, &mut confinement)?),
            None => None,
        };
        confinement.weaknesses.extend(idle_quota(wanted));
        let groups = Groups::make(&Roots::default(), &owner, wanted, &mut confinement);
        Ok(Self { groups, network, memory_lock: wanted.limits.memory_lock, confinement })
    }

    /// What the target's own process has to do before it becomes the program.
    pub(crate) fn join(&self) -> Join {
        Join {
            groups: self.groups.folders(),
            network: self.network.as_ref().map(Network::path),
            memory_lock: self.memory_lock,
        }
    }

    /// Checks that the process is where it should be; what is recorded as held.
    pub(crate) fn check(&self, pid: u32) -> Confinement {
        let mut found = self.confinement.clone();
        let outside = self.groups.outside(&Roots::default(), pid);
        found.weaknesses.extend(outside.into_iter().map(|controller| {
            said!(
                "weakness.outside_group",
                "the target did not enter its control group of {controller}, so that limit does not hold",
                controller
            )
        }));
        if self.network.as_ref().is_some_and(|network| !network.holds(pid)) {
            let text = said!("weakness.outside_network", "the target did not enter its network namespace");
            found.weaknesses.push(text);
        }
        if let Some(wanted) = self.memory_lock {
            match lock::of(Path::new("/proc"), pid) {
                Ok(held) => {
                    found.memory_lock = Some(held);
                    let is_exempt = lock::is_exempt(Path::new("/proc"), pid);
                    found.weaknesses.extend(lock::weakness(wanted, held, is_exempt));
                }
                Err(cause) => found.weaknesses.push(cause.into()),
            }
        }
        found
    }

    /// Changes one limit while the target runs; the value as read back.
    pub(crate) fn change(&self, change: Change) -> Result<f64, String> {
        match change {
            Change::Cpus(cpus) => self.groups.set_cpus(cpus),
            Change::Drop(share) => match &self.network {
                Some(network) => network.set_drop(share),
                None => {
                    Err("the target has no network of its own in which packets could be dropped".to_owned())
                }
            },
        }
    }

    /// What the relay on the way to the target did since it was asked last; nothing where there is none.
    pub(crate) fn relayed(&self) -> Option<RelayUsage> {
        self.network.as_ref()?.relayed()
    }

    /// Processes killed so far because the memory limit was reached.
    pub(crate) fn oom_kills(&self) -> u64 {
        self.groups.oom_kills().unwrap_or(0)
    }

    /// Removes all; what stays is named.
    pub(crate) fn remove(self) -> Vec<String> {
        let mut left = self.network.map(Network::remove).unwrap_or_default();
        left.extend(self.groups.remove());
        left
    }
}

/// A quota above what the CPU set gives anyway never stops anything.
fn idle_quota(wanted: &Wanted) -> Option<Said> {
    let (quota, set) = (wanted.limits.cpus?, wanted.cpus.as_ref()?);
    (quota > set.len() as f64).then(|| {
        said!(
            "weakness.idle_quota",
            "the quota of {quota} CPUs never binds: the target may use only CPU {cpus} (pin)",
            quota,
            cpus = crate::pin::list(set)
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use schema::limits::LimitsPlan;

    #[test]
    fn a_quota_above_the_cpu_set_is_said() {
        let wanted = |quota: f64, cpus: Option<Vec<u32>>| Wanted {
            limits: LimitsPlan { cpus: Some(quota), ..LimitsPlan::default() },
            cpus,
            subnets: None,
            services: Vec::new(),
            weaknesses: Vec::new(),
        };
        assert!(idle_quota(&wanted(2.0, Some(vec![1]))).unwrap().contains("never binds"));
        assert_eq!(idle_quota(&wanted(1.0, Some(vec![1]))), None);
        assert_eq!(idle_quota(&wanted(2.0, None)), None);
    }
}
