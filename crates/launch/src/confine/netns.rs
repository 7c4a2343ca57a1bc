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
use super::wanted::{ServicePlace, Subnets, Wanted};
use super::{sysctl, tool};
use schema::limits::{Confinement, IsolatedGenerator, IsolatedNetwork, RelayUsage};
use schema::said;
use schema::said::Said;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fs;
use std::hash::{BuildHasher, Hasher, RandomState};
use std::net::Ipv4Addr;
use std::path::{Path, PathBuf};

/// The device towards the host in the target's network, and towards the target in the generator's.
const INSIDE: &str = "eth0";
/// The device towards the generator in the target's network.
const LOAD: &str = "load0";
/// Ports of which the target gets one; below those that systems give out to clients.
const PORTS: (u16, u16) = (20_000, 12_000);
/// Random picks in each range before the next range is tried.
const PICKS: u32 = 256;
/// Where addresses are taken from: private (RFC 1918), then link-local (RFC 3927) without the reserved ends and
/// without 169.254.169.x, where clouds answer questions about themselves.
const RANGES: [(Ipv4Addr, Ipv4Addr); 3] = [
    (Ipv4Addr::new(10, 64, 0, 0), Ipv4Addr::new(10, 255, 255, 255)),
    (Ipv4Addr::new(169, 254, 1, 0), Ipv4Addr::new(169, 254, 168, 255)),
    (Ipv4Addr::new(169, 254, 170, 0), Ipv4Addr::new(169, 254, 254, 255)),
];

/// Why the target must not be started as it is: its network cannot be had, and its address depends on it.
pub(crate) struct NoNetwork(pub(crate) String);

/// Four addresses of which two are used: the host's end and the target's.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize)]
pub struct Subnet {
    first: Ipv4Addr,
}

impl Subnet {
    /// A free one, chosen at random: ended connections of an earlier trial then cannot meet those of this one.
    ///
    /// # Errors
    /// The routes of the host cannot be read, or leave nothing free.
    pub fn free() -> Result<Self, String> {
        Self::free_beside(&mut taken()?)
    }

    /// The same, outside of what is taken, to which it is added.
    fn free_beside(taken: &mut Vec<(u32, u32)>) -> Result<Self, String> {
        let random = || RandomState::new().build_hasher().finish();
        for (low, high) in RANGES {
            let (low, high) = (u32::from(low), u32::from(high));
            let count = u64::from((high - low) / 4 + 1);
            for _ in 0..PICKS {
                let first = low + (random() % count) as u32 * 4;
                if !taken.iter().any(|(from, to)| *from <= first + 3 && first <= *to) {
                    taken.push((first, first + 3));
                    return Ok(Self { first: first.into() });
                }
            }
        }
        Err("the host has routes to all private and link-local addresses".to_owned())
    }

    /// The host's end, at which what runs on the host is reached from inside.
    #[must_use]
    pub fn host(self) -> Ipv4Addr {
        Ipv4Addr::from(u32::from(self.first) + 1)
    }

    /// The target's address.
    #[must_use]
    pub fn target(self) -> Ipv4Addr {
        Ipv4Addr::from(u32::from(self.first) + 2)
    }

    /// A port for the target, where all are free; another one each time.
    #[must_use]
    pub fn port() -> u16 {
        PORTS.0 + (RandomState::new().build_hasher().finish() % u64::from(PORTS.1)) as u16
    }
}

impl Subnets {
    /// Free ones for a target with so many services.
    pub(crate) fn free(services: usize) -> Result<Self, String> {
        let mut taken = taken()?;
        let mut free = || Subnet::free_beside(&mut taken);
        let (host, generator) = (free()?, free()?);
        Ok(Self { host, generator, services: (0..services).map(|_| free()).collect::<Result<_, _>>()? })
    }
}

/// First and last addresses of the networks that the host has routes to.
fn taken() -> Result<Vec<(u32, u32)>, String> {
    let routes = tool::run("ip", "-4 -o route show table all", "")?;
    Ok(routes.lines().filter_map(taken_by).collect())
}

/// First and last address of the network in a line of `ip route`, default routes aside. Lines begin with a prefix, or
/// with the kind of route and then the prefix.
fn taken_by(line: &str) -> Option<(u32, u32)> {
    line.split_ascii_whitespace().take(2).find_map(|word| {
        let (address, bits) = word.split_once('/').unwrap_or((word, "32"));
        let address = u32::from(address.parse::<Ipv4Addr>().ok()?);
        let bits: u32 = bits.parse().ok().filter(|bits| (1..=32).contains(bits))?;
        let mask = u32::MAX << (32 - bits);
        Some((address & mask, address | !mask))
    })
}

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
        let is_there = || Path::new("/sys/class/net").join(&self.host.device).exists();
        if is_there()
            && let Err(cause) = self.host.remove()
            && is_there()
        {
            left.push(format!("network device {}: {cause}", self.host.device));
        }
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
    fn routes_take_their_networks() {
        let range = |text: &str| {
            taken_by(text)
                .map(|(from, to)| (Ipv4Addr::from(from).to_string(), Ipv4Addr::from(to).to_string()))
        };
        let pair = |from: &str, to: &str| Some((from.to_owned(), to.to_owned()));
        assert_eq!(range("default via 192.0.2.1 dev eth0"), None);
        assert_eq!(range("10.0.0.0/8 dev tun0 scope link"), pair("10.0.0.0", "10.255.255.255"));
        assert_eq!(range("192.0.2.7 dev eth0"), pair("192.0.2.7", "192.0.2.7"));
        assert_eq!(range("local 127.0.0.0/8 dev lo table local"), pair("127.0.0.0", "127.255.255.255"));
        assert_eq!(range("blackhole 10.1.0.0/16"), pair("10.1.0.0", "10.1.255.255"));
        assert_eq!(range("0.0.0.0/0 dev x"), None);
    }

    #[test]
    fn both_ends_lie_in_one_network_of_four() {
        let subnet = Subnet { first: Ipv4Addr::new(10, 64, 0, 4) };
        assert_eq!(
            (subnet.host().to_string(), subnet.target().to_string()),
            ("10.64.0.5".into(), "10.64.0.6".into())
        );
        assert!((20_000..32_000).contains(&Subnet::port()));
    }

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
