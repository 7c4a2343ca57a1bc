//! A network of its own for one trial: a namespace, a pair of virtual devices, and addresses that nobody else has.
//!
//! Invariants: the namespace has neither name nor mount, it lives while the guard holds it open or a process is in it;
//! deleting the host's device deletes its partner; addresses never lie in a network that the host has a route to.
//! Absent on purpose: a way out of the namespace. The target reaches the host's end and nothing else.

use super::join::enter_network;
use super::name::Owner;
use super::{sysctl, tool, traffic};
use rustix::thread::UnshareFlags;
use schema::limits::{Confinement, IsolatedNetwork, LimitsPlan};
use schema::said;
use schema::said::Said;
use serde::{Deserialize, Serialize};
use std::cell::Cell;
use std::fs::{self, File};
use std::hash::{BuildHasher, Hasher, RandomState};
use std::net::Ipv4Addr;
use std::os::fd::AsRawFd;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// The target's device, inside.
const INSIDE: &str = "eth0";
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
        let routes = tool::run("ip", "-4 -o route show table all", "")?;
        let taken: Vec<(u32, u32)> = routes.lines().filter_map(taken_by).collect();
        let random = || RandomState::new().build_hasher().finish();
        for (low, high) in RANGES {
            let (low, high) = (u32::from(low), u32::from(high));
            let count = u64::from((high - low) / 4 + 1);
            for _ in 0..PICKS {
                let first = low + (random() % count) as u32 * 4;
                if !taken.iter().any(|(from, to)| *from <= first + 3 && first <= *to) {
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

/// A namespace with its devices.
pub(super) struct Network {
    namespace: File,
    device: String,
    /// The table that drops packets at either end.
    table: String,
    /// Whether the host's may be there.
    has_table: Cell<bool>,
    /// What the limits lose.
    loss: f64,
}

impl Network {
    /// Makes it; on an error nothing of it is left.
    pub(super) fn make(
        owner: &Owner,
        subnet: Subnet,
        limits: &LimitsPlan,
        held: &mut Confinement,
    ) -> Result<Self, NoNetwork> {
        let namespace = new_namespace().map_err(NoNetwork)?;
        let network = Self {
            namespace,
            device: owner.device(),
            table: owner.table(),
            has_table: Cell::new(false),
            loss: limits.loss.unwrap_or_default(),
        };
        match network.set_up(subnet, limits, &mut held.weaknesses) {
            Ok(made) => {
                held.network = Some(made);
                Ok(network)
            }
            Err(cause) => {
                network.remove();
                Err(NoNetwork(cause))
            }
        }
    }

    /// A path by which any process of this host opens the namespace while the guard lives.
    pub(super) fn path(&self) -> PathBuf {
        PathBuf::from(format!("/proc/{}/fd/{}", std::process::id(), self.namespace.as_raw_fd()))
    }

    /// Whether a process is inside.
    pub(super) fn holds(&self, pid: u32) -> bool {
        let of_process = fs::metadata(format!("/proc/{pid}/ns/net")).map(|facts| facts.ino());
        let own = self.namespace.metadata().map(|facts| facts.ino());
        matches!((of_process, own), (Ok(a), Ok(b)) if a == b)
    }

    fn set_up(
        &self,
        subnet: Subnet,
        limits: &LimitsPlan,
        weaknesses: &mut Vec<Said>,
    ) -> Result<IsolatedNetwork, String> {
        let (device, path) = (self.device.clone(), self.path());
        let (host, target) = (subnet.host(), subnet.target());
        let inside = path.display();
        let ip = |words: &str| tool::run("ip", words, "").map(drop);
        ip(&format!("link add {device} type veth peer name {INSIDE} netns {inside}"))?;
        // No addresses of IPv6, and so no traffic that nobody asked for.
        ip(&format!("link set dev {device} addrgenmode none"))?;
        ip(&format!("addr add {host}/30 dev {device}"))?;
        ip(&format!("link set dev {device} up"))?;
        let mut made = IsolatedNetwork {
            target_address: target,
            host_address: host,
            host_device: device.clone(),
            sysctls: Default::default(),
            rate_bits_per_s: None,
            loss: None,
            time_wait_at_start: None,
        };
        within(&path, || {
            ip("link set dev lo up")?;
            ip(&format!("link set dev {INSIDE} addrgenmode none"))?;
            ip(&format!("addr add {target}/30 dev {INSIDE}"))?;
            ip(&format!("link set dev {INSIDE} up"))?;
            for (name, value) in &limits.sysctls {
                match sysctl::set(name, value) {
                    Ok(found) => drop(made.sysctls.insert(name.clone(), found)),
                    Err(cause) => weaknesses.push(said!(
                        "weakness.network_setting",
                        "a setting of the target's network: {cause}",
                        cause = Said::from(cause)
                    )),
                }
            }
            made.time_wait_at_start = time_wait(&PathBuf::from("/proc/thread-self"));
            Ok(())
        })?;
        if let Some(rate) = limits.rate_bits_per_s {
            let both = traffic::set_rate(&device, rate)
                .and_then(|shown| within(&path, || traffic::set_rate(INSIDE, rate)).map(|_| shown));
            match both {
                Ok(shown) => made.rate_bits_per_s = Some(shown),
                Err(cause) => weaknesses.push(said!(
                    "weakness.network_speed",
                    "the speed of the network is not bounded: {cause}",
                    cause = Said::from(cause)
                )),
            }
        }
        if self.loss > 0.0 {
            match self.set_loss(self.loss) {
                Ok(shown) => made.loss = Some(shown),
                Err(cause) => weaknesses.push(said!(
                    "weakness.network_loss",
                    "the network loses no packets: {cause}",
                    cause = Said::from(cause)
                )),
            }
        }
        Ok(made)
    }

    /// Loses a share of packets beyond what the limits lose; 0 ends that. The share that was added.
    pub(super) fn set_drop(&self, share: f64) -> Result<f64, String> {
        // Either drop may hit a packet.
        self.set_loss(1.0 - (1.0 - self.loss) * (1.0 - share)).map(|_| share)
    }

    /// Drops this share on arrival at both ends; as read back.
    fn set_loss(&self, share: f64) -> Result<f64, String> {
        // Noted first: half of it may be there after an error.
        self.has_table.set(true);
        let table = self.table.as_str();
        let shown = traffic::set_loss(table, &self.device, share)?;
        within(&self.path(), || traffic::set_loss(table, INSIDE, share))?;
        Ok(shown)
    }

    /// Removes devices and table; the namespace goes with the last process inside. Names what stays.
    pub(super) fn remove(self) -> Vec<String> {
        let mut left = Vec::new();
        let is_there = || Path::new("/sys/class/net").join(&self.device).exists();
        if is_there()
            && let Err(cause) = tool::run("ip", &format!("link delete dev {}", self.device), "")
            && is_there()
        {
            left.push(format!("network device {}: {cause}", self.device));
        }
        if self.has_table.get()
            && let Err(cause) = traffic::remove_table(&self.table)
            && traffic::tables().contains(&self.table)
        {
            left.push(format!("table {} of nftables: {cause}", self.table));
        }
        left
    }
}

/// Makes a namespace without a name, from a thread that ends at once; the file keeps it alive.
#[expect(
    deprecated,
    reason = "rustix warns of sharing file descriptors, which a network namespace does not touch"
)]
fn new_namespace() -> Result<File, String> {
    let made = std::thread::spawn(|| {
        rustix::thread::unshare(UnshareFlags::NEWNET)
            .map_err(|error| format!("cannot make a network namespace: {error}"))?;
        File::open("/proc/thread-self/ns/net").map_err(|error| format!("cannot hold the namespace: {error}"))
    });
    made.join().unwrap_or_else(|_| Err("the thread that makes the namespace was lost".to_owned()))
}

/// Does `work` on a thread inside the namespace; what it starts is inside, too.
fn within<T: Send>(path: &Path, work: impl FnOnce() -> Result<T, String> + Send) -> Result<T, String> {
    let work = || enter_network(path).and_then(|()| work());
    std::thread::scope(|scope| {
        scope
            .spawn(work)
            .join()
            .unwrap_or_else(|_| Err("the thread inside the namespace was lost".to_owned()))
    })
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
