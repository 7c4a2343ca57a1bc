//! Addresses that nobody else has, for the networks around one isolated target.
//!
//! Invariant: they never lie in a network that the host has a route to.

use super::tool;
use serde::{Deserialize, Serialize};
use std::hash::{BuildHasher, Hasher, RandomState};
use std::net::Ipv4Addr;

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

/// Addresses of the pairs of devices around one isolated target.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub(crate) struct Subnets {
    /// Between the host and the target.
    pub(crate) host: Subnet,
    /// Between the generator's network and the target's.
    pub(crate) generator: Subnet,
    /// Between the target's and each service's, in their order.
    pub(crate) services: Vec<Subnet>,
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
}
