//! A process tree whose root changes: a target that is started again under another number.
//!
//! Invariant: no difference spans a change of root, so the first line after it has gauges only.

use super::{GENERATOR, ProcessTree, TARGET};
use crate::error::CollectError;
use crate::reading::Reading;
use crate::source::{Differencing, Source};
use crate::{Roots, process};
use schema::trial::CounterLine;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use units::Nanos;

/// The number of the target's first process, kept current by whoever starts it.
pub type RootPid = Arc<AtomicU32>;

/// `target.process` of whatever process `root` names at each tick.
pub(crate) fn target(roots: &Roots, root: RootPid) -> Box<dyn Source> {
    let pid = root.load(Ordering::Relaxed);
    let inner = process::source(TARGET, ProcessTree::new(roots, pid));
    Box::new(Followed { roots: roots.clone(), root, pid, inner })
}

/// `generator.process` without the target's tree, whichever that is at each tick.
pub(crate) fn generator(roots: &Roots, pid: u32, target: Option<RootPid>) -> Box<dyn Source> {
    let current = move || target.as_ref().map(|root| root.load(Ordering::Relaxed));
    let mut tree = ProcessTree::new(roots, pid).without(current());
    Box::new(Differencing::new(GENERATOR, move || {
        tree.leave_out(current());
        tree.read().map(Reading::from)
    }))
}

struct Followed {
    roots: Roots,
    root: RootPid,
    pid: u32,
    inner: Box<dyn Source>,
}

impl Source for Followed {
    fn name(&self) -> &str {
        TARGET
    }

    fn tick(&mut self, now: Nanos) -> Result<CounterLine, CollectError> {
        let pid = self.root.load(Ordering::Relaxed);
        if pid != self.pid {
            self.pid = pid;
            self.inner = process::source(TARGET, ProcessTree::new(&self.roots, pid));
        }
        self.inner.tick(now)
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
        let mut source = target(&Roots::default(), root.clone());
        source.tick(Nanos(1)).unwrap();
        assert!(source.tick(Nanos(2)).unwrap().deltas.contains_key("cpu_ns"));
        first.kill().unwrap();
        first.wait().unwrap();
        assert!(source.tick(Nanos(3)).is_err(), "between the two there is none");
        let mut second = sleeper();
        root.store(second.id(), Ordering::Relaxed);
        let line = source.tick(Nanos(4)).unwrap();
        assert!(line.deltas.is_empty() && line.gauges["processes"] == 1.0, "{line:?}");
        assert!(source.tick(Nanos(5)).unwrap().deltas.contains_key("cpu_ns"));
        second.kill().unwrap();
        second.wait().unwrap();
    }
}
