//! The way that a load takes to an isolated target: a pair of devices with a speed, a loss and a delay.
//!
//! | wanted | by | else by |
//! |---|---|---|
//! | delay | netem at both ends (`tc`) | a relay between two TUN devices |
//! | loss | a random drop on arrival (`nft`) | the same relay |
//! | speed | a token bucket at both ends (`tc`) | |
//!
//! Invariants: what cannot be had is a weakness; a delay is measured on the idle way before anything else is on it.

use super::relay::Relay;
use super::space::End;
use super::{tool, traffic, trips};
use schema::limits::{DelayedBy, IsolatedNetwork, LimitsPlan, RelayUsage};
use schema::said;
use schema::said::Said;
use std::cell::Cell;
use std::time::Duration;

/// Two ends and what is between them.
pub(super) struct Way {
    /// The load's end.
    here: End,
    /// The target's.
    there: End,
    relay: Option<Relay>,
    has_netem: bool,
    /// The table that drops packets at either end.
    table: String,
    /// Whether it may be there.
    has_table: Cell<bool>,
    /// What the limits lose.
    loss: f64,
}

impl Way {
    /// Makes the devices and says in `made` and `weaknesses` what holds on the way.
    pub(super) fn make(
        here: End,
        there: End,
        table: String,
        limits: &LimitsPlan,
        made: &mut IsolatedNetwork,
        weaknesses: &mut Vec<Said>,
    ) -> Result<Self, String> {
        let loss = limits.loss.unwrap_or_default();
        let (has_table, delay_ns) = (Cell::new(false), limits.delay_ns.unwrap_or_default());
        let mut way = Self { here, there, relay: None, has_netem: false, table, has_table, loss };
        way.connect(delay_ns, weaknesses)?;
        if let Some(by) = way.delayed_by().filter(|_| delay_ns > 0) {
            match trips::measure(by, delay_ns, &way.here, &way.there) {
                Ok(delay) => made.delay = Some(delay),
                Err(cause) => weaknesses.push(no_delay(cause)),
            }
        }
        way.bound(limits, made, weaknesses);
        Ok(way)
    }

    /// Joins the ends: by a relay where only that loses packets, else by virtual devices, with netem on them, or a relay in
    /// their place, for a delay.
    fn connect(&mut self, delay_ns: u64, weaknesses: &mut Vec<Said>) -> Result<(), String> {
        let relay = || Relay::start(&self.here, &self.there, Duration::from_nanos(delay_ns));
        let mut refused = None;
        if self.loss > 0.0 && !tool::is_there("nft") {
            match relay() {
                Ok(relay) => {
                    self.relay = Some(relay);
                    return Ok(());
                }
                Err(cause) => refused = Some(cause),
            }
        }
        self.here.join(&self.there)?;
        if delay_ns == 0 {
            return Ok(());
        }
        let by_netem = |end: &End| end.within(|| traffic::set_delay(&end.device, delay_ns));
        if by_netem(&self.here).and_then(|_| by_netem(&self.there)).is_ok() {
            self.has_netem = true;
            return Ok(());
        }
        // What was set on one end goes with the devices.
        self.here.remove()?;
        match refused.map_or_else(relay, Err) {
            Ok(relay) => self.relay = Some(relay),
            Err(cause) => {
                weaknesses.push(no_delay(cause));
                self.here.join(&self.there)?;
            }
        }
        Ok(())
    }

    /// Who holds packets up; also a relay that does so for no time.
    fn delayed_by(&self) -> Option<DelayedBy> {
        match &self.relay {
            Some(_) => Some(DelayedBy::Relay),
            None => self.has_netem.then_some(DelayedBy::Netem),
        }
    }

    fn bound(&self, limits: &LimitsPlan, made: &mut IsolatedNetwork, weaknesses: &mut Vec<Said>) {
        if let Some(rate) = limits.rate_bits_per_s {
            let below = self.has_netem;
            let set = |end: &End| end.within(|| traffic::set_rate(&end.device, rate, below));
            match set(&self.here).and_then(|shown| set(&self.there).map(|_| shown)) {
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
    }

    /// Loses a share of packets beyond what the limits lose; 0 ends that. The share that was added.
    pub(super) fn set_drop(&self, share: f64) -> Result<f64, String> {
        // Either drop may hit a packet.
        self.set_loss(1.0 - (1.0 - self.loss) * (1.0 - share)).map(|_| share)
    }

    /// Drops this share on arrival at both ends; as read back.
    fn set_loss(&self, share: f64) -> Result<f64, String> {
        if let Some(relay) = &self.relay {
            relay.set_loss(share);
            return Ok(share);
        }
        // Noted first: half of it may be there after an error.
        self.has_table.set(true);
        let table = self.table.as_str();
        let set = |end: &End| end.within(|| traffic::set_loss(table, &end.device, share));
        set(&self.here).and_then(|shown| set(&self.there).map(|_| shown))
    }

    /// What the relay did since it was asked last.
    pub(super) fn relayed(&self) -> Option<RelayUsage> {
        self.relay.as_ref().map(Relay::take)
    }

    /// Removes the devices, and a table of the host's; names what stays. What is in other networks goes with them.
    pub(super) fn remove(self) -> Vec<String> {
        drop(self.relay);
        let mut left: Vec<String> = self.here.clear().into_iter().collect();
        if self.here.namespace.is_none()
            && self.has_table.get()
            && let Err(cause) = traffic::remove_table(&self.table)
            && traffic::tables().contains(&self.table)
        {
            left.push(format!("table {} of nftables: {cause}", self.table));
        }
        left
    }
}

fn no_delay(cause: String) -> Said {
    said!("weakness.network_delay", "packets are not held up: {cause}", cause = Said::from(cause))
}
