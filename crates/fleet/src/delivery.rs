//! Results that arrive exactly once: what an agent keeps until it was taken, and what the controller counts.
//!
//! ```text
//! agent                                    controller
//! Outbox ── parcel 0, 1, 2 … ────────────▶ Inbox        counts each once, in order
//!        ◀─ "all below n are held" ───────
//!        ── manifest: how many, digest, sums ▶           whole only if all of it is so
//! ```
//!
//! A parcel is known by session (one attempt at one trial of one run), agent and interval. The way between the two may
//! lose, repeat and reorder: what was not taken stays in the outbox and is sent again, what comes again is recognised.
//! Invariants: an inbox gives out every parcel once and in order; it is whole only where the manifest's number, digest and
//! sums are those of what it gave out; an outbox lets go of nothing that the controller does not hold.
//! Absent on purpose: time, threads and streams (`generate::agents`). `tests/delivery.rs` searches every history of loss,
//! repetition, reordering and crash, and draws long ones.

use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};
use std::collections::{BTreeMap, VecDeque};

/// SHA-256.
pub type Digest = [u8; 32];

/// Parcels that an agent keeps at most: minutes of them, and a lease lasts seconds.
const SPOOL_MAX: usize = 1024;
/// How far ahead of the first missing parcel one is still kept.
const AHEAD_MAX: u64 = SPOOL_MAX as u64;

/// What a parcel says in numbers, added up at both ends.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Deserialize, Serialize)]
pub struct Sums {
    /// Requests that were booked.
    pub scheduled: u64,
    /// Answered rightly.
    pub completed: u64,
    /// Ended with an error.
    pub failed: u64,
    /// Unsent or in flight at the end.
    pub censored: u64,
}

impl Sums {
    fn add(&mut self, other: Self) {
        self.scheduled = self.scheduled.saturating_add(other.scheduled);
        self.completed = self.completed.saturating_add(other.completed);
        self.failed = self.failed.saturating_add(other.failed);
        self.censored = self.censored.saturating_add(other.censored);
    }
}

/// One interval of one agent on its way.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Deserialize, Serialize)]
pub struct Parcel<T> {
    /// The attempt at a trial that it belongs to.
    pub session: String,
    /// The agent's number in the fleet.
    pub agent: u32,
    /// Number of the interval, counted from 0.
    pub interval: u64,
    /// Of what it holds.
    pub digest: Digest,
    /// In numbers.
    pub sums: Sums,
    /// What it holds.
    pub body: T,
}

/// The last word of an agent: what the controller must have.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Deserialize, Serialize)]
pub struct Manifest {
    /// How many parcels.
    pub parcels: u64,
    /// SHA-256 over the digests of all parcels in order.
    pub digest: Digest,
    /// Their sums.
    pub sums: Sums,
}

/// What both ends keep of the parcels so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
struct Account {
    parcels: u64,
    /// Each digest is hashed onto the one before, so that order counts.
    chain: Digest,
    sums: Sums,
}

impl Account {
    fn add(&mut self, digest: Digest, sums: Sums) {
        self.parcels += 1;
        self.chain = Sha256::new().chain_update(self.chain).chain_update(digest).finalize().into();
        self.sums.add(sums);
    }

    const fn manifest(&self) -> Manifest {
        Manifest { parcels: self.parcels, digest: self.chain, sums: self.sums }
    }
}

/// The digest of what a parcel holds.
#[must_use]
pub fn digest(body: &[u8]) -> Digest {
    Sha256::digest(body).into()
}

/// What is wrong with what came or with what is to be sent.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum DeliveryError {
    /// Of another trial, attempt or agent.
    #[error("a parcel of session {session}, agent {agent} came where another was expected")]
    Stranger {
        /// Its session.
        session: String,
        /// Its agent.
        agent: u32,
    },
    /// The same interval with another content.
    #[error("interval {0} came twice with different contents")]
    Changed(u64),
    /// An interval that cannot be on its way yet.
    #[error("interval {0} came far ahead of those before it")]
    Ahead(u64),
    /// More parcels than the manifest counts, or two manifests.
    #[error("{parcels} parcels came, and the manifest counts {manifest}")]
    Beyond {
        /// Parcels that came.
        parcels: u64,
        /// Parcels of the manifest.
        manifest: u64,
    },
    /// All came, and they are not what was sent.
    #[error("all {0} parcels came, but their digest or sums are not the manifest's")]
    Differs(u64),
    /// Nothing was taken for too long.
    #[error("{SPOOL_MAX} parcels wait to be taken")]
    Full,
}

/// The agent's end: parcels until they were taken.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Outbox<T> {
    session: String,
    agent: u32,
    account: Account,
    spool: BTreeMap<u64, Parcel<T>>,
    is_closed: bool,
    is_taken: bool,
}

impl<T: Clone> Outbox<T> {
    /// Of one agent in one session.
    #[must_use]
    pub fn new(session: &str, agent: u32) -> Self {
        let account = Account::default();
        Self {
            session: session.to_owned(),
            agent,
            account,
            spool: BTreeMap::new(),
            is_closed: false,
            is_taken: false,
        }
    }

    /// Puts the next interval in; it stays until it was taken.
    ///
    /// # Errors
    /// [`DeliveryError::Full`].
    ///
    /// # Panics
    /// If it was closed: a programmer's error.
    pub fn put(&mut self, digest: Digest, sums: Sums, body: T) -> Result<&Parcel<T>, DeliveryError> {
        assert!(!self.is_closed, "a closed outbox takes no parcel");
        if self.spool.len() >= SPOOL_MAX {
            return Err(DeliveryError::Full);
        }
        let interval = self.account.parcels;
        self.account.add(digest, sums);
        let (session, agent) = (self.session.clone(), self.agent);
        Ok(self.spool.entry(interval).or_insert(Parcel { session, agent, interval, digest, sums, body }))
    }

    /// The controller holds all parcels below `interval`.
    pub fn taken_below(&mut self, interval: u64) {
        self.spool.retain(|kept, _| *kept >= interval);
    }

    /// All that was not taken, in order: to be sent again where a link was cut.
    pub fn kept(&self) -> impl Iterator<Item = &Parcel<T>> {
        self.spool.values()
    }

    /// No parcel comes after those so far.
    pub const fn close(&mut self) -> Manifest {
        self.is_closed = true;
        self.account.manifest()
    }

    /// The manifest, once it is closed.
    #[must_use]
    pub const fn manifest(&self) -> Option<Manifest> {
        if self.is_closed { Some(self.account.manifest()) } else { None }
    }

    /// The controller found all of it whole.
    pub fn taken_whole(&mut self) {
        self.is_taken = self.is_closed;
        if self.is_taken {
            self.spool.clear();
        }
    }

    /// Whether nothing is left to be said.
    #[must_use]
    pub const fn is_done(&self) -> bool {
        self.is_taken
    }
}

/// What is known of an interval that came before.
enum Before {
    /// With this content.
    As(Digest),
    /// So long ago that its digest is no longer kept: it was counted, and its agent knows.
    LongAgo,
}

/// The controller's end: each parcel once and in order.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Inbox<T> {
    session: String,
    agent: u32,
    account: Account,
    /// Digests of what was given out last: as many as an agent can still send again.
    given: VecDeque<Digest>,
    ahead: BTreeMap<u64, Parcel<T>>,
    manifest: Option<Manifest>,
    repeated: u64,
}

impl<T> Inbox<T> {
    /// For one agent in one session.
    #[must_use]
    pub fn new(session: &str, agent: u32) -> Self {
        Self {
            session: session.to_owned(),
            agent,
            account: Account::default(),
            given: VecDeque::new(),
            ahead: BTreeMap::new(),
            manifest: None,
            repeated: 0,
        }
    }

    /// Takes a parcel; gives out what can now be counted, in order. Nothing where it came before, or where one before it
    /// is missing.
    ///
    /// # Errors
    /// One that cannot be of this agent's part: see [`DeliveryError`]. The part is then void.
    pub fn take(&mut self, parcel: Parcel<T>) -> Result<Vec<T>, DeliveryError> {
        let interval = parcel.interval;
        if parcel.session != self.session || parcel.agent != self.agent {
            return Err(DeliveryError::Stranger { session: parcel.session, agent: parcel.agent });
        }
        match self.came_before(interval) {
            Some(Before::As(digest)) if digest != parcel.digest => {
                return Err(DeliveryError::Changed(interval));
            }
            Some(_) => {
                self.repeated += 1;
                return Ok(Vec::new());
            }
            None => {}
        }
        if interval - self.account.parcels >= AHEAD_MAX {
            return Err(DeliveryError::Ahead(interval));
        }
        if let Some(manifest) = self.manifest.filter(|manifest| interval >= manifest.parcels) {
            return Err(DeliveryError::Beyond { parcels: interval + 1, manifest: manifest.parcels });
        }
        self.ahead.insert(interval, parcel);
        let mut out = Vec::new();
        while let Some(parcel) = self.ahead.remove(&self.account.parcels) {
            self.account.add(parcel.digest, parcel.sums);
            if self.given.len() == SPOOL_MAX {
                self.given.pop_front();
            }
            self.given.push_back(parcel.digest);
            out.push(parcel.body);
        }
        Ok(out)
    }

    /// How an interval came before, if it did.
    fn came_before(&self, interval: u64) -> Option<Before> {
        let Some(back) = self.account.parcels.checked_sub(interval).filter(|back| *back > 0) else {
            return self.ahead.get(&interval).map(|held| Before::As(held.digest));
        };
        let place = usize::try_from(back).ok().and_then(|back| self.given.len().checked_sub(back));
        Some(place.map_or(Before::LongAgo, |place| Before::As(self.given[place])))
    }

    /// The agent's last word.
    ///
    /// # Errors
    /// More parcels came than it counts, or it is another than before.
    pub fn close(&mut self, manifest: Manifest) -> Result<(), DeliveryError> {
        let last = self.ahead.last_key_value().map_or(self.account.parcels, |(last, _)| last + 1);
        let known = self.manifest.unwrap_or(manifest);
        if last > manifest.parcels || known != manifest {
            return Err(DeliveryError::Beyond { parcels: last, manifest: manifest.parcels });
        }
        self.manifest = Some(manifest);
        Ok(())
    }

    /// All intervals below this one are held: what the agent is told.
    #[must_use]
    pub const fn held_below(&self) -> u64 {
        self.account.parcels
    }

    /// Whether the manifest came and all that it counts.
    ///
    /// # Errors
    /// All came, and they are not what was sent.
    pub fn is_whole(&self) -> Result<bool, DeliveryError> {
        match self.manifest {
            Some(manifest) if manifest == self.account.manifest() => Ok(true),
            Some(manifest) if manifest.parcels == self.account.parcels => {
                Err(DeliveryError::Differs(manifest.parcels))
            }
            _ => Ok(false),
        }
    }

    /// Parcels that came again.
    #[must_use]
    pub const fn repeated(&self) -> u64 {
        self.repeated
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sums(n: u64) -> Sums {
        Sums { scheduled: n + 2, completed: n, failed: 1, censored: 1 }
    }

    fn outbox(parcels: u64) -> Outbox<u64> {
        let mut outbox = Outbox::new("s", 3);
        for n in 0..parcels {
            outbox.put(digest(&n.to_be_bytes()), sums(n), n).unwrap();
        }
        outbox
    }

    fn parcel(interval: u64, body: u64) -> Parcel<u64> {
        let digest = digest(&body.to_be_bytes());
        Parcel { session: "s".to_owned(), agent: 3, interval, digest, sums: sums(body), body }
    }

    #[test]
    fn parcels_out_of_order_and_again_are_counted_once_and_in_order() {
        let mut outbox = outbox(3);
        let mut inbox = Inbox::new("s", 3);
        let out: Vec<_> = [2, 0, 2, 0, 1, 1].into_iter().map(|n| inbox.take(parcel(n, n)).unwrap()).collect();
        assert_eq!(out, [vec![], vec![0], vec![], vec![], vec![1, 2], vec![]]);
        assert_eq!((inbox.held_below(), inbox.repeated()), (3, 3));
        assert_eq!(inbox.is_whole(), Ok(false), "nobody said that there is no fourth");
        inbox.close(outbox.close()).unwrap();
        assert_eq!(inbox.is_whole(), Ok(true));
        outbox.taken_below(2);
        assert_eq!(outbox.kept().map(|kept| kept.interval).collect::<Vec<_>>(), [2]);
        assert!(!outbox.is_done());
        outbox.taken_whole();
        assert!(outbox.is_done() && outbox.kept().next().is_none());
    }

    #[test]
    fn what_cannot_be_is_refused_by_name() {
        let mut inbox = Inbox::new("s", 3);
        inbox.take(parcel(0, 0)).unwrap();
        let stranger = Parcel { session: "old".to_owned(), ..parcel(1, 1) };
        assert!(matches!(inbox.take(stranger), Err(DeliveryError::Stranger { .. })));
        let other = Parcel { agent: 4, ..parcel(1, 1) };
        assert!(matches!(inbox.take(other), Err(DeliveryError::Stranger { agent: 4, .. })));
        assert_eq!(inbox.take(parcel(0, 9)), Err(DeliveryError::Changed(0)));
        inbox.take(parcel(2, 2)).unwrap();
        assert_eq!(inbox.take(parcel(2, 9)), Err(DeliveryError::Changed(2)));
        assert_eq!(inbox.take(parcel(1 + AHEAD_MAX, 9)), Err(DeliveryError::Ahead(1 + AHEAD_MAX)));
        assert_eq!(inbox.take(parcel(u64::MAX, 9)), Err(DeliveryError::Ahead(u64::MAX)));
        let short = outbox(1).close();
        assert!(matches!(inbox.close(short), Err(DeliveryError::Beyond { parcels: 3, manifest: 1 })));
        inbox.close(outbox(3).close()).unwrap();
        assert_eq!(inbox.take(parcel(3, 3)), Err(DeliveryError::Beyond { parcels: 4, manifest: 3 }));
        assert!(inbox.close(outbox(4).close()).is_err(), "one last word is enough");
    }

    #[test]
    fn what_came_long_ago_is_known_without_its_digest_and_counted_once() {
        let mut inbox = Inbox::new("s", 3);
        let last = SPOOL_MAX as u64;
        for n in 0..=last {
            assert_eq!(inbox.take(parcel(n, n)).unwrap(), [n]);
        }
        assert_eq!(inbox.given.len(), SPOOL_MAX);
        // Of the first nothing is kept but that it came; the second can still be held against what came.
        assert_eq!(inbox.take(parcel(0, 9)), Ok(Vec::new()));
        assert_eq!(inbox.take(parcel(1, 1)), Ok(Vec::new()));
        assert_eq!(inbox.take(parcel(1, 9)), Err(DeliveryError::Changed(1)));
        assert_eq!(inbox.take(parcel(last, 9)), Err(DeliveryError::Changed(last)));
        assert_eq!((inbox.repeated(), inbox.held_below()), (2, last + 1));
    }

    #[test]
    fn a_manifest_of_other_contents_is_not_met() {
        let mut inbox = Inbox::new("s", 3);
        inbox.take(parcel(0, 0)).unwrap();
        inbox.take(parcel(1, 7)).unwrap();
        inbox.close(outbox(2).close()).unwrap();
        assert_eq!(inbox.is_whole(), Err(DeliveryError::Differs(2)));
    }

    #[test]
    fn an_agent_whose_parcels_nobody_takes_stops_and_says_why() {
        let mut outbox = outbox(SPOOL_MAX as u64);
        assert_eq!(outbox.put([0; 32], Sums::default(), 1).unwrap_err(), DeliveryError::Full);
        outbox.taken_below(1);
        assert!(outbox.put([0; 32], Sums::default(), 1).is_ok());
    }
}
