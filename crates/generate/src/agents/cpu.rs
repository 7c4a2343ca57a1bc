//! What the hypervisor of an agent's host gave to others, from the first line of `/proc/stat` (proc(5)).

/// CPU time of the host since its start, in ticks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct CpuTime {
    all: u64,
    stolen: u64,
}

impl CpuTime {
    /// `None` where it cannot be read.
    pub(super) fn read() -> Option<Self> {
        Self::parse(&std::fs::read_to_string("/proc/stat").ok()?)
    }

    /// user, nice, system, idle, iowait, irq, softirq, steal; what guests used is in user already.
    fn parse(text: &str) -> Option<Self> {
        let line = text.lines().next()?.strip_prefix("cpu ")?;
        let ticks: Vec<u64> = line.split_whitespace().take(8).map_while(|tick| tick.parse().ok()).collect();
        Some(Self { all: ticks.iter().sum(), stolen: *ticks.get(7)? })
    }

    /// The share that was stolen since `begin`; `None` where no time has passed.
    pub(super) fn stolen_since(self, begin: Self) -> Option<f64> {
        let all = self.all.checked_sub(begin.all).filter(|all| *all > 0)?;
        Some(self.stolen.saturating_sub(begin.stolen) as f64 / all as f64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_stolen_share_is_of_what_passed() {
        let begin = CpuTime::parse("cpu  100 0 50 800 10 5 5 30 7 0\ncpu0 1 2\n").unwrap();
        let end = CpuTime::parse("cpu  150 0 60 820 10 5 5 50 9 0\n").unwrap();
        assert_eq!(end.stolen_since(begin), Some(20.0 / 100.0));
        assert_eq!(begin.stolen_since(begin), None);
        assert_eq!(CpuTime::parse("cpu  1 2 3\n"), None, "old kernels have no steal");
        assert_eq!(CpuTime::parse(""), None);
    }
}
