//! `target.netstat`, `target.snmp`, `target.sockstat`: TCP as the target's own network namespace counts it, where it has
//! one. Same keys as [`tcp_netstat`], [`tcp_snmp`] and [`tcp_sockstat`], read below `/proc/PID/net`, which shows the
//! namespace of that process (proc(5)).
//!
//! Absent on purpose: a target in the host's namespace, whose counters would be the host's under another name.

use crate::error::CollectError;
use crate::process::followed::RootPid;
use crate::reading::Reading;
use crate::source::{Differencing, Source};
use crate::{Roots, tcp_netstat, tcp_snmp, tcp_sockstat};
use std::sync::atomic::Ordering;

pub(crate) type Read = fn(&Roots) -> Result<Reading, CollectError>;

/// Their names, and how each is read of a namespace.
const SOURCES: [(&str, Read); 3] = [
    ("target.netstat", tcp_netstat::read),
    ("target.snmp", tcp_snmp::read),
    ("target.sockstat", tcp_sockstat::read),
];

pub(crate) fn sources(roots: &Roots, root: &RootPid) -> Vec<Box<dyn Source>> {
    let source = |(name, read): (&'static str, Read)| -> Box<dyn Source> {
        let (roots, root) = (roots.clone(), root.clone());
        Box::new(Differencing::new(name, move || read(&of_process(&roots, root.load(Ordering::Relaxed)))))
    };
    SOURCES.into_iter().map(source).collect()
}

/// The roots as this process sees its network.
fn of_process(roots: &Roots, pid: u32) -> Roots {
    Roots { proc: roots.proc.join(pid.to_string()), sys: roots.sys.clone() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use units::Nanos;

    #[test]
    fn they_are_read_of_the_process_and_a_process_that_is_gone_costs_gaps() {
        let own = RootPid::new(std::process::id().into());
        for mut source in sources(&Roots::default(), &own) {
            let line = source.tick(Nanos(1)).unwrap();
            assert!(line.source.starts_with("target."), "{}", line.source);
        }
        let gone = RootPid::new((1_u32 << 30).into());
        assert!(sources(&Roots::default(), &gone).iter_mut().all(|source| source.tick(Nanos(1)).is_err()));
    }
}
