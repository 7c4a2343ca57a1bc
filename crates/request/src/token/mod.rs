//! JSON Web Tokens (RFC 7519), made ahead.
//!
//! Invariants: a pool is full before the load begins; a thread of its own makes the next generation before tokens of
//! this one expire, and ends with the program; handing a token out is an index into what the worker holds, so the send
//! path never waits; how each token was made is known. Signing is `ring`'s.
//! Absent on purpose: checking tokens, encrypted tokens (JWE), keys from anywhere but a file or the environment.

mod claims;
mod pool;
mod sign;
#[cfg(test)]
mod tests;
mod usage;

pub(crate) use pool::View;
pub use usage::TokenUse;

use crate::program::ProgramError;
use crate::template::{Scope, Var};
use pool::{Law, Shared};
use schema::scenario::TokenMaker;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::mpsc::{Sender, channel};
use std::thread::JoinHandle;
use std::time::Duration;
use units::Seed;

/// All pools of a program, and the thread that renews them.
#[derive(Debug, Default)]
pub(crate) struct Tokens {
    pools: Vec<Arc<Shared>>,
    /// Dropped to end the thread.
    stop: Option<Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl Tokens {
    /// Fills a pool for each maker, in the order of their names, and starts the thread where there is a pool. Claims
    /// may use `vars` and functions.
    pub(crate) fn start(
        plans: &BTreeMap<String, TokenMaker>,
        folder: &str,
        vars: &[Var],
        scope: Scope<'_>,
        seed: Seed,
        clock: fn() -> Duration,
    ) -> Result<Self, ProgramError> {
        let mut pools = Vec::new();
        for (name, plan) in plans {
            let key = format!("tokens.{name}");
            let signer = sign::Signer::new(plan, &key, folder, scope.env)?;
            let claims = claims::Claims::compile(plan, &key, vars, scope)?;
            let law = Law::new(plan, &key)?;
            let seed = seed.derive("token", 0).derive(name, 0);
            let minter = pool::Minter { signer, claims, law, seed, clock };
            let shared = Shared::fill(minter).map_err(|cause| {
                ProgramError::new(
                    format!("{key}.claims"),
                    cause,
                    "mend the claims; each token must have a value",
                )
            })?;
            pools.push(Arc::new(shared));
        }
        if pools.is_empty() {
            return Ok(Self::default());
        }
        let (stop, stopped) = channel();
        let renewed = pools.clone();
        let thread = std::thread::Builder::new().name("tokens".into());
        let thread = thread.spawn(move || pool::renew(&renewed, &stopped)).map_err(|error| {
            ProgramError::new(
                "tokens",
                format!("no thread for tokens: {error}"),
                "raise the limit of threads",
            )
        })?;
        Ok(Self { pools, stop: Some(stop), thread: Some(thread) })
    }

    /// One worker's hold on each pool.
    pub(crate) fn views(&self) -> Vec<View> {
        self.pools.iter().map(|pool| View::new(pool.clone())).collect()
    }
}

impl Drop for Tokens {
    fn drop(&mut self) {
        drop(self.stop.take());
        if let Some(thread) = self.thread.take() {
            // Between two tokens the thread sees that it is to end. Had it panicked, there would be nothing to do.
            let _ = thread.join();
        }
    }
}
