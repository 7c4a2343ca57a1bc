//! A process tree whose root changes: a target that is started again under another number.
//!
//! Invariant: no difference spans a change of root, so the first line after it has gauges only.

use super::detail::Details;
use super::{GENERATOR, ProcessTree, TARGET, THREADS, WithoutThreads, take_threads};
use crate::Roots;
use crate::error::CollectError;
use crate::reading::Values;
use crate::source::{Differencing, Source};
use schema::trial::CounterLine;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use units::Nanos;

/// The number of the target's first process, kept current by whoever starts it.
pub type RootPid = Arc<AtomicU32>;

/// Shares of the busiest threads of the latest reading, until they are taken.
type Threads = Arc<Mutex<Option<Values>>>;

/// `target.process` and `target.threads` of whatever process `root` names at each tick, to be read in this order.
pub(crate) fn target(roots: &Roots, root: &RootPid) -> [Box<dyn Source>; 2] {
    let pid = root.load(Ordering::Relaxed);
    let threads = Threads::default();
    let inner = begin(roots, pid);
    let followed =
        Followed { roots: roots.clone(), root: root.clone(), pid, inner, threads: threads.clone() };
    [Box::new(followed), Box::new(BusiestThreads { root: root.clone(), threads })]
}

fn begin(roots: &Roots, pid: u32) -> Box<dyn Source> {
    let mut details = Details::new(&roots.proc, ProcessTree::new(roots, pid));
    Box::new(Differencing::new(TARGET, move || details.read()))
}

/// `generator.process` without the trees of the target, whichever that is at each tick, and of services.
pub(crate) fn generator(
    roots: &Roots,
    pid: u32,
    target: Option<RootPid>,
    services: Vec<u32>,
) -> Box<dyn Source> {
    let current = move || -> Vec<u32> {
        let target = target.as_ref().map(|root| root.load(Ordering::Relaxed));
        services.iter().copied().chain(target).collect()
    };
    let mut details = Details::new(&roots.proc, ProcessTree::new(roots, pid).without(current()));
    Box::new(WithoutThreads(Box::new(Differencing::new(GENERATOR, move || {
        details.tree().leave_out(current());
        details.read()
    }))))
}

struct Followed {
    roots: Roots,
    root: RootPid,
    pid: u32,
    inner: Box<dyn Source>,
    threads: Threads,
}

impl Source for Followed {
    fn name(&self) -> &str {
        TARGET
    }

    fn tick(&mut self, now: Nanos) -> Result<CounterLine, CollectError> {
        let pid = self.root.load(Ordering::Relaxed);
        if pid != self.pid {
            self.pid = pid;
            self.inner = begin(&self.roots, pid);
        }
        let mut line = self.inner.tick(now)?;
        *self.threads.lock().unwrap_or_else(PoisonError::into_inner) = Some(take_threads(&mut line));
        Ok(line)
    }
}

/// Publishes what the reading of the tree has found.
struct BusiestThreads {
    root: RootPid,
    threads: Threads,
}

impl Source for BusiestThreads {
    fn name(&self) -> &str {
        THREADS
    }

    fn tick(&mut self, now: Nanos) -> Result<CounterLine, CollectError> {
        let gauges = self.threads.lock().unwrap_or_else(PoisonError::into_inner).take();
        let gauges = gauges.ok_or_else(|| CollectError::Gone { pid: self.root.load(Ordering::Relaxed) })?;
        Ok(CounterLine { t_ns: now.0, source: THREADS.to_owned(), gauges, ..CounterLine::default() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::process::{Child, Command, Stdio};

    fn sleeper() -> Child {
        Command::new("sleep").arg("1000").stdin(Stdio::null()).spawn().unwrap()
    }

    #[test]
    fn the_target_is_followed_to_its_next_process() {
        let mut first = sleeper();
        let root = RootPid::new(AtomicU32::new(first.id()));
        let [mut source, mut threads] = target(&Roots::default(), &root);
        source.tick(Nanos(1)).unwrap();
        assert!(threads.tick(Nanos(1)).unwrap().gauges.is_empty(), "shares need two readings");
        assert!(source.tick(Nanos(2)).unwrap().deltas.contains_key("cpu_ns"));
        // It may still be on its way into `sleep`, so what it used is not known.
        assert!(threads.tick(Nanos(2)).unwrap().gauges["top1_percent"] >= 0.0);
        first.kill().unwrap();
        first.wait().unwrap();
        assert!(source.tick(Nanos(3)).is_err(), "between the two there is none");
        assert!(threads.tick(Nanos(3)).is_err());
        let mut second = sleeper();
        root.store(second.id(), Ordering::Relaxed);
        let line = source.tick(Nanos(4)).unwrap();
        assert!(line.deltas.is_empty() && line.gauges["processes"] == 1.0, "{line:?}");
        assert!(source.tick(Nanos(5)).unwrap().deltas.contains_key("cpu_ns"));
        second.kill().unwrap();
        second.wait().unwrap();
    }
}
