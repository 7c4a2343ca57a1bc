//! Pools of tokens: a generation is made as a whole, published, and held by each worker until there is a newer one.
//!
//! Invariant: workers take a lock only in `refresh`, which is beside the hot path, and only when there is news.

use super::claims::Claims;
use super::sign::Signer;
use crate::program::ProgramError;
use schema::load::TokenKind;
use schema::scenario::TokenMaker;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, TryRecvError};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use units::{Rng, Seed};

/// A token with less life than this is not handed out while there are fresher ones; half of the shortest life where
/// that is less.
const MARGIN_S: f64 = 10.0;
/// An expired token expired this long before it was made: more than any clock or leeway is off.
const EXPIRED_SINCE_S: u64 = 3600;
/// Most tokens of a pool.
const POOL_MAX: u32 = 1_000_000;
/// The thread looks at the wall clock at least this often, for it may be set.
const LOOK: Duration = Duration::from_secs(1);

/// How tokens are spread: lives in seconds, shares from 0 to 1.
#[derive(Clone, Copy, Debug)]
pub(super) struct Law {
    life_s_min: f64,
    life_s_max: f64,
    expired: f64,
    badly_signed: f64,
    pool: u32,
}

impl Law {
    pub(super) fn new(plan: &TokenMaker, key: &str) -> Result<Self, ProgramError> {
        let seconds =
            |life: Option<units::Nanos>, default: f64| life.map_or(default, |life| life.0 as f64 / 1e9);
        let law = Self {
            life_s_min: seconds(plan.expires_at_least, 30.0_f64.min(seconds(plan.expires_at_most, 300.0))),
            life_s_max: seconds(plan.expires_at_most, 300.0_f64.max(seconds(plan.expires_at_least, 30.0))),
            expired: plan.expired.unwrap_or(0.0),
            badly_signed: plan.badly_signed.unwrap_or(0.0),
            pool: plan.pool.unwrap_or(1000),
        };
        let fault = |field: &str, cause: &str, remedy: &str| {
            Err(ProgramError::new(format!("{key}.{field}"), cause, remedy))
        };
        if law.life_s_min < 1.0 {
            return fault("expires_at_least", "a token lives less than 1 s", "write 1 s or more");
        }
        if law.life_s_min > law.life_s_max {
            return fault("expires_at_least", "the shortest life is above the longest", "swap the two");
        }
        for (field, share) in [("expired", law.expired), ("badly_signed", law.badly_signed)] {
            if !(0.0..=1.0).contains(&share) {
                return fault(field, "a share lies from 0 to 1", "write for example 0.05");
            }
        }
        if law.expired + law.badly_signed > 1.0 {
            return fault(
                "badly_signed",
                "the shares of bad tokens exceed the whole",
                "write smaller shares",
            );
        }
        if !(1..=POOL_MAX).contains(&law.pool) {
            return fault("pool", "a pool has 1 to 1,000,000 tokens", "write for example 1000");
        }
        Ok(law)
    }

    fn margin_s(&self) -> f64 {
        MARGIN_S.min(self.life_s_min / 2.0)
    }

    fn kind(&self, rng: &mut Rng) -> TokenKind {
        match rng.unit() {
            mark if mark < self.expired => TokenKind::Expired,
            mark if mark < self.expired + self.badly_signed => TokenKind::BadlySigned,
            _ => TokenKind::Valid,
        }
    }
}

/// All that is needed to make tokens.
#[derive(Debug)]
pub(super) struct Minter {
    pub(super) signer: Signer,
    pub(super) claims: Claims,
    pub(super) law: Law,
    pub(super) seed: Seed,
    /// Since the Unix epoch.
    pub(super) clock: fn() -> Duration,
}

/// Tokens made together. Their texts are one piece of memory, so letting go of them is quick.
#[derive(Debug, Default)]
pub(super) struct Generation {
    texts: String,
    tokens: Vec<Token>,
    /// Places of valid tokens by expiry, the soonest first.
    valid: Vec<u32>,
}

#[derive(Clone, Copy, Debug)]
struct Token {
    to: usize,
    kind: TokenKind,
    expires_s: u64,
}

impl Minter {
    /// Makes token number `number` into `generation`.
    fn mint(&self, number: u64, generation: &mut Generation) -> Result<(), String> {
        let mut rng = self.seed.derive("token", number).rng();
        let kind = self.law.kind(&mut rng);
        let life = self.law.life_s_min + rng.unit() * (self.law.life_s_max - self.law.life_s_min);
        let life_s = life.round() as u64;
        let now_s = (self.clock)().as_secs();
        let issued_s = match kind {
            TokenKind::Expired => now_s.saturating_sub(EXPIRED_SINCE_S + life_s),
            _ => now_s,
        };
        let expires_s = issued_s + life_s;
        let claims = self.claims.render(number, rng, self.clock, issued_s, expires_s);
        let claims = claims.map_err(|cause| cause.to_string())?;
        self.signer.push(&claims, kind == TokenKind::BadlySigned, &mut generation.texts)?;
        generation.tokens.push(Token { to: generation.texts.len(), kind, expires_s });
        Ok(())
    }

    /// A whole generation of the tokens on from `number`; nothing where `is_stopped` says so in between. While tokens
    /// can be made, one that cannot is left out; else the last fault is given.
    fn generation(
        &self,
        number: u64,
        mut is_stopped: impl FnMut() -> bool,
    ) -> Result<Option<Generation>, String> {
        let mut generation = Generation::default();
        let mut fault = None;
        for number in number..number + u64::from(self.law.pool) {
            if is_stopped() {
                return Ok(None);
            }
            let end = generation.texts.len();
            if let Err(cause) = self.mint(number, &mut generation) {
                generation.texts.truncate(end);
                fault = Some(cause);
            }
        }
        let tokens = &generation.tokens;
        let is_valid = |place: &u32| tokens[*place as usize].kind == TokenKind::Valid;
        let mut valid: Vec<u32> = (0..tokens.len() as u32).filter(is_valid).collect();
        valid.sort_by_key(|place| tokens[*place as usize].expires_s);
        generation.valid = valid;
        match fault {
            Some(cause) if generation.tokens.is_empty() => Err(cause),
            _ => Ok(Some(generation)),
        }
    }
}

impl Generation {
    fn text(&self, place: usize) -> Option<&str> {
        let from = if place == 0 { 0 } else { self.tokens.get(place - 1)?.to };
        self.texts.get(from..self.tokens.get(place)?.to)
    }

    fn soonest_s(&self) -> Option<u64> {
        self.valid.first().map(|place| self.tokens[*place as usize].expires_s)
    }
}

/// A pool: its maker and the newest generation.
#[derive(Debug)]
pub(super) struct Shared {
    minter: Minter,
    newest: Mutex<Arc<Generation>>,
    /// Generations so far.
    count: AtomicU64,
    /// How long the first one took.
    took: Duration,
}

impl Shared {
    /// Makes the first generation.
    pub(super) fn fill(minter: Minter) -> Result<Self, String> {
        let begin = (minter.clock)();
        let first = minter.generation(0, || false)?.unwrap_or_default();
        let took = (minter.clock)().saturating_sub(begin);
        Ok(Self { minter, newest: Mutex::new(Arc::new(first)), count: AtomicU64::new(1), took })
    }

    fn newest(&self) -> Arc<Generation> {
        self.newest.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// When the next generation is to be begun, so that it is there before a valid token comes within the margin; never
    /// where no token is valid.
    fn due(&self) -> Option<Duration> {
        let soonest = Duration::from_secs(self.newest().soonest_s()?);
        let lead = Duration::from_secs_f64(self.minter.law.margin_s()) + 2 * self.took;
        Some(soonest.saturating_sub(lead))
    }

    /// Makes and publishes the next generation. Where it cannot be made, the old one stays.
    fn renew(&self, is_stopped: impl FnMut() -> bool) {
        let count = self.count.load(Ordering::Relaxed);
        let number = count * u64::from(self.minter.law.pool);
        if let Ok(Some(next)) = self.minter.generation(number, is_stopped) {
            *self.newest.lock().unwrap_or_else(PoisonError::into_inner) = Arc::new(next);
            self.count.store(count + 1, Ordering::Release);
        }
    }
}

/// The thread: renews pools when they are due until `stopped` is closed.
pub(super) fn renew(pools: &[Arc<Shared>], stopped: &Receiver<()>) {
    loop {
        let wait =
            pools.iter().filter_map(|pool| Some(pool.due()?.saturating_sub((pool.minter.clock)()))).min();
        // Lives of few seconds must not make it a busy loop.
        let wait = wait.unwrap_or(LOOK).clamp(Duration::from_millis(20), LOOK);
        if !matches!(stopped.recv_timeout(wait), Err(RecvTimeoutError::Timeout)) {
            return;
        }
        for pool in pools {
            if pool.due().is_some_and(|due| due <= (pool.minter.clock)()) {
                pool.renew(|| matches!(stopped.try_recv(), Err(TryRecvError::Disconnected)));
            }
        }
    }
}

/// One worker's hold on a pool.
#[derive(Debug)]
pub(crate) struct View {
    shared: Arc<Shared>,
    held: Arc<Generation>,
    count: u64,
    /// Valid tokens that expire before this are not handed out while there are others.
    stale_before_s: u64,
    /// The first of `valid` that is not stale.
    fresh_from: usize,
}

impl View {
    pub(super) fn new(shared: Arc<Shared>) -> Self {
        let count = shared.count.load(Ordering::Acquire);
        Self { held: shared.newest(), shared, count, stale_before_s: 0, fresh_from: 0 }
    }

    /// Takes a newer generation if there is one, and learns which tokens are about to expire.
    pub(crate) fn refresh(&mut self, now: Duration) {
        let count = self.shared.count.load(Ordering::Acquire);
        if count != self.count {
            self.held = self.shared.newest();
            self.count = count;
        }
        self.stale_before_s = (now.as_secs_f64() + self.shared.minter.law.margin_s()) as u64;
        let held = &self.held;
        let is_stale = |place: &u32| held.tokens[*place as usize].expires_s < self.stale_before_s;
        self.fresh_from = held.valid.partition_point(is_stale);
    }

    /// The token for request or session `position`, and how it was made.
    #[inline]
    pub(crate) fn hand_out(&self, position: u64) -> Option<(&str, TokenKind)> {
        let held = &*self.held;
        let mut place = (position % (held.tokens.len() as u64).max(1)) as usize;
        let token = held.tokens.get(place)?;
        let fresh = held.valid.get(self.fresh_from..).unwrap_or_default();
        if token.kind == TokenKind::Valid && token.expires_s < self.stale_before_s && !fresh.is_empty() {
            place = fresh[(position % fresh.len() as u64) as usize] as usize;
        }
        Some((held.text(place)?, token.kind))
    }
}
