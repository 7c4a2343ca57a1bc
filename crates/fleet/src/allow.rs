//! What an agent may load, by its own list: an agent obeys whoever reaches it, so a controller in the wrong hands must not
//! be able to point it anywhere.
//!
//! Invariants: loopback is free, nothing else is unless the list names it; private addresses are not free here, because
//! they are somebody's network. Absent on purpose: names are not resolved here; the agent resolves them itself and asks
//! about name and address.

use std::net::IpAddr;

/// The list.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Allow {
    hosts: Vec<String>,
    networks: Vec<Network>,
}

/// Addresses that share their first bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Network {
    address: IpAddr,
    bits: u8,
}

/// An entry that is none.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{entry}` allows nothing: {cause}; write a name, an address, or a network such as 10.1.0.0/16")]
pub struct AllowError {
    entry: String,
    cause: &'static str,
}

impl Allow {
    /// Reads names, addresses and networks.
    ///
    /// # Errors
    /// An empty entry, a URL, or a network with more bits than its addresses have.
    pub fn parse<T: AsRef<str>>(entries: impl IntoIterator<Item = T>) -> Result<Self, AllowError> {
        let mut allow = Self::default();
        for entry in entries {
            allow.add(entry.as_ref())?;
        }
        Ok(allow)
    }

    fn add(&mut self, entry: &str) -> Result<(), AllowError> {
        let wrong = |cause| AllowError { entry: entry.to_owned(), cause };
        if entry.is_empty() || entry.contains("://") || entry.contains(char::is_whitespace) {
            return Err(wrong("it is no host"));
        }
        if let Some((address, bits)) = entry.split_once('/') {
            let address: IpAddr =
                address.parse().map_err(|_| wrong("what stands before `/` is no address"))?;
            let most = if address.is_ipv4() { 32 } else { 128 };
            let bits = bits.parse().ok().filter(|bits| *bits <= most);
            let bits = bits.ok_or_else(|| wrong("what stands after `/` is no number of bits"))?;
            self.networks.push(Network { address, bits });
        } else if let Ok(address) = entry.trim_matches(['[', ']']).parse::<IpAddr>() {
            let bits = if address.is_ipv4() { 32 } else { 128 };
            self.networks.push(Network { address, bits });
        } else if entry.contains(':') {
            return Err(wrong("ports cannot be given"));
        } else {
            self.hosts.push(entry.to_ascii_lowercase());
        }
        Ok(())
    }

    /// Whether `host`, which is `address` for this agent, may be loaded.
    #[must_use]
    pub fn permits(&self, host: &str, address: IpAddr) -> bool {
        let address = address.to_canonical();
        address.is_loopback()
            || self.hosts.iter().any(|named| named.eq_ignore_ascii_case(host))
            || self.networks.iter().any(|network| network.contains(address))
    }
}

impl Network {
    fn contains(&self, address: IpAddr) -> bool {
        match (self.address.to_canonical(), address) {
            (IpAddr::V4(own), IpAddr::V4(other)) => {
                let shift = 32 - u32::from(self.bits.min(32));
                own.to_bits().checked_shr(shift) == other.to_bits().checked_shr(shift)
            }
            (IpAddr::V6(own), IpAddr::V6(other)) => {
                let shift = 128 - u32::from(self.bits.min(128));
                own.to_bits().checked_shr(shift) == other.to_bits().checked_shr(shift)
            }
            _ => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(entries: &[&str], host: &str, address: &str, permitted: bool) {
        let allow = Allow::parse(entries).unwrap();
        assert_eq!(allow.permits(host, address.parse().unwrap()), permitted, "{entries:?} {host} {address}");
    }

    #[test]
    fn loopback_is_free_and_nothing_else_without_a_word() {
        for (address, permitted) in [
            ("127.0.0.1", true),
            ("127.200.3.4", true),
            ("::1", true),
            ("::ffff:127.0.0.1", true),
            ("10.0.0.1", false),
            ("192.168.1.1", false),
            ("169.254.169.254", false),
            ("fd00::1", false),
            ("fe80::1", false),
            ("0.0.0.0", false),
            ("8.8.8.8", false),
        ] {
            check(&[], "h", address, permitted);
        }
    }

    #[test]
    fn names_addresses_and_networks_are_allowed_by_name() {
        check(&["Shop.test"], "shop.TEST", "10.0.0.1", true);
        check(&["shop.test"], "other.test", "10.0.0.1", false);
        check(&["10.0.0.1"], "h", "10.0.0.1", true);
        check(&["10.0.0.1"], "h", "::ffff:10.0.0.1", true);
        check(&["10.0.0.1"], "h", "10.0.0.2", false);
        check(&["10.1.0.0/16"], "h", "10.1.255.3", true);
        check(&["10.1.0.0/16"], "h", "10.2.0.1", false);
        check(&["0.0.0.0/0"], "h", "8.8.8.8", true);
        check(&["0.0.0.0/0"], "h", "2001:db8::1", false);
        check(&["2001:db8::/32"], "h", "2001:db8:9::1", true);
        check(&["[2001:db8::1]"], "h", "2001:db8::1", true);
        check(&["::/0"], "h", "2001:db9::1", true);
    }

    #[test]
    fn what_is_no_entry_is_refused_with_what_to_write() {
        for entry in ["", "http://h/", "10.0.0.0/33", "10.0.0.0/x", "h/8", "h:80", "a b"] {
            let error = Allow::parse([entry]).unwrap_err().to_string();
            assert!(error.contains("write a name"), "{error}");
        }
    }
}
