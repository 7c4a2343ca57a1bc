//! A network of its own for one trial: a namespace, a pair of virtual devices, and addresses that nobody else has; and,
//! where they are asked for, one for the generator, and ways to the networks of services.
//!
//! ```text
//! host ── prony1234 ─ eth0 ── target ── load0 ─ eth0 ── generator
//!                               └────── svc0 ─ prony1234 ── service
//! ```
//!
//! Invariants: the namespaces have neither name nor mount, they live while the guard holds them open or a process is in
//! them; deleting one device of a pair deletes its partner; addresses never lie in a network that the host has a route to.
//! Absent on purpose: a way out of the namespaces, and packets that the host passes on. The target reaches the host's end,
//! the generator and its services, and nothing else.

use super::name::Owner;
use super::path::Way;
use super::space::{End, Space, ip, within};
use super::subnet::{Subnet, Subnets};
use super::sysctl;
use super::wanted::{ServicePlace, Wanted};
use schema::limits::{Confinement, IsolatedGenerator, IsolatedNetwork, RelayUsage};
use schema::said;
use schema::said::Said;
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

/// The device towards the host in the target's network, and towards the target in the generator's.
const INSIDE: &str = "eth0";
/// The device towards the generator in the target's network.
const LOAD: &str = "load0";

/// Why the target must not be started as it is: its network cannot be had, and its address depends on it.
pub(crate) struct NoNetwork(pub(crate) String);

/// A target's namespace with its devices, and the generator's.
pub(super) struct Network {
    space: Space,
    generator: Option<Space>,
    /// The host's end of its pair with the target.
    host: End,
    /// What the load takes; absent only while it is made.
    way: Option<Way>,
    /// The target's ends of the pairs with services.
    services: Vec<End>,
}

impl Network {
    /// Makes it; on an error nothing of it is left.
    pub(super) fn make(
        owner: &Owner,
        subnets: &Subnets,
        wanted: &Wanted,
        held: &mut Confinement,
    ) -> Result<Self, NoNetwork> {
        let space = Space::make().map_err(NoNetwork)?;
        let is_apart = wanted.limits.generator.is_some();
        let generator = is_apart.then(Space::make).transpose().map_err(NoNetwork)?;
        let host = End::new(None, &owner.device(), subnets.host.host());
        let mut network = Self { space, generator, host, way: None, services: Vec::new() };
        match network.set_up(owner, subnets, wanted, held) {
            Ok(made) => {
                held.network = Some(made);
                Ok(network)
            }
            Err(cause) => {
                network.remove();
                held.generator = None;
                Err(NoNetwork(cause))
            }
        }
    }

    /// A path by which any process of this host opens the namespace while the guard lives.
    pub(super) fn path(&self) -> PathBuf {
        self.space.path()
    }

    /// Whether a process is inside.
    pub(super) fn holds(&self, pid: u32) -> bool {
        self.space.holds(pid)
    }

    fn set_up(
        &mut self,
        owner: &Owner,
        subnets: &Subnets,
        wanted: &Wanted,
        held: &mut Confinement,
    ) -> Result<IsolatedNetwork, String> {
        let (limits, weaknesses) = (&wanted.limits, &mut held.weaknesses);
        let (host, target) = (subnets.host.host(), subnets.host.target());
        let inside = End::new(Some(self.path()), INSIDE, target);
        let mut made = IsolatedNetwork {
            target_address: target,
            host_address: host,
            host_device: self.host.device.clone(),
            sysctls: BTreeMap::new(),
            rate_bits_per_s: None,
            loss: None,
            time_wait_at_start: None,
            services: Vec::new(),
            delay: None,
        };
        let (here, there) = match &self.generator {
            Some(generator) => {
                self.host.join(&inside)?;
                let own = End::new(Some(generator.path()), INSIDE, subnets.generator.host());
                (own, End::new(Some(self.path()), LOAD, subnets.generator.target()))
            }
            None => (self.host.clone(), inside),
        };
        let way = Way::make(here, there, owner.table(), limits, &mut made, weaknesses)?;
        self.way = Some(way);
        if let (Some(generator), Some(wanted)) = (&self.generator, &limits.generator) {
            let (address, target_end) = (subnets.generator.host(), subnets.generator.target());
            let sysctls = within(&generator.path(), || {
                // The load goes to the address at which everybody knows the target.
                ip(&format!("route add {target}/32 via {target_end} dev {INSIDE}"))?;
                Ok(set_all(&wanted.sysctls, weaknesses, |cause| {
                    said!(
                        "weakness.generator_setting",
                        "a setting of the generator's network: {cause}",
                        cause = Said::from(cause)
                    )
                }))
            })?;
            let namespace = generator.path();
            held.generator = Some(IsolatedGenerator { address, target_end, namespace, sysctls });
        }
        for (at, (service, subnet)) in wanted.services.iter().zip(&subnets.services).enumerate() {
            self.join_service(owner, at, service, *subnet)?;
            made.services.push(service.address);
        }
        within(&self.path(), || {
            made.sysctls = set_all(&limits.sysctls, weaknesses, |cause| {
                said!(
                    "weakness.network_setting",
                    "a setting of the target's network: {cause}",
                    cause = Said::from(cause)
                )
            });
            made.time_wait_at_start = time_wait(&PathBuf::from("/proc/thread-self"));
            Ok(())
        })?;
        Ok(made)
    }

    /// A pair of devices between the target's network and a service's.
    fn join_service(
        &mut self,
        owner: &Owner,
        at: usize,
        service: &ServicePlace,
        subnet: Subnet,
    ) -> Result<(), String> {
        let own = End::new(Some(self.path()), &format!("svc{at}"), subnet.host());
        let theirs = End::new(Some(service.namespace.clone()), &owner.device(), subnet.target());
        own.join(&theirs)?;
        let (to, via, device) = (service.address, theirs.address, own.device.clone());
        self.services.push(own);
        within(&self.path(), || ip(&format!("route add {to}/32 via {via} dev {device}")))
    }

    /// Loses a share of packets beyond what the limits lose; 0 ends that. The share that was added.
    pub(super) fn set_drop(&self, share: f64) -> Result<f64, String> {
        self.way.as_ref().map_or(Ok(0.0), |way| way.set_drop(share))
    }

    /// What the relay did since it was asked last.
    pub(super) fn relayed(&self) -> Option<RelayUsage> {
        self.way.as_ref()?.relayed()
    }

    /// Removes devices and table; the namespaces go with the last process inside. Names what stays.
    pub(super) fn remove(self) -> Vec<String> {
        for own in &self.services {
            // The service lives on; without this its end would stay until the kernel clears the namespace away.
            let _ = own.remove();
        }
        let mut left = self.way.map(Way::remove).unwrap_or_default();
        left.extend(self.host.clear());
        left
    }
}

/// Sets settings from inside; those that were read back.
fn set_all(
    wanted: &BTreeMap<String, String>,
    weaknesses: &mut Vec<Said>,
    weakness: impl Fn(String) -> Said,
) -> BTreeMap<String, String> {
    let mut found = BTreeMap::new();
    for (name, value) in wanted {
        match sysctl::set(name, value) {
            Ok(value) => drop(found.insert(name.clone(), value)),
            Err(cause) => weaknesses.push(weakness(cause)),
        }
    }
    found
}

/// Sockets in TIME_WAIT in the network of a process (`net/sockstat`, line `TCP:`, word after `tw`).
fn time_wait(process: &Path) -> Option<u64> {
    let text = fs::read_to_string(process.join("net/sockstat")).ok()?;
    let mut words = text.lines().find_map(|line| line.strip_prefix("TCP:"))?.split_ascii_whitespace();
    words.find(|word| *word == "tw")?;
    words.next()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn time_wait_is_read() {
        let process = tempfile::tempdir().unwrap();
        fs::create_dir(process.path().join("net")).unwrap();
        fs::write(
            process.path().join("net/sockstat"),
            "sockets: used 9\nTCP: inuse 2 orphan 0 tw 7 alloc 3 mem 0\n",
        )
        .unwrap();
        assert_eq!(time_wait(process.path()), Some(7));
        assert_eq!(time_wait(Path::new("/nonexistent")), None);
    }
}
