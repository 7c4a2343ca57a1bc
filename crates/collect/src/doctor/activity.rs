//! Facts about what else runs: stolen CPU time and competing load, from two readings of `/proc/stat`.

use super::fact::{About, Judgement, percent, read_text};
use crate::reading::{Reading, Values, delta};
use crate::{Roots, host_load, host_stat, text};
use schema::doctor::{Bearing, Fact, Severity};
use schema::said;

/// Shares of stolen time, METHOD §9.
const STEAL_WARNING: f64 = 0.01;
const STEAL_PROBLEM: f64 = 0.05;
/// With fewer ticks between the readings a single one would be near the limit of [`STEAL_WARNING`].
const TICKS_MIN: f64 = 90.0;
/// Shares of busy CPU time before any load is on.
const BUSY_NOTE: f64 = 0.05;
const BUSY_WARNING: f64 = 0.20;
const BUSY_PROBLEM: f64 = 0.50;
/// One-minute load average per core that is worth a note.
const LOAD_NOTE: f64 = 0.5;

const STEAL: About = About {
    id: "host.steal",
    title: || said!("fact.host_steal.title", "Stolen CPU time"),
    bearing: Bearing::Moment,
    effect: || {
        said!(
            "fact.host_steal.effect",
            "the hypervisor gives this machine's cores to others; above 1 % results are weakened, above 5 % a trial is void"
        )
    },
};
const LOAD: About = About {
    id: "host.load",
    title: || said!("fact.host_load.title", "Competing load"),
    bearing: Bearing::Moment,
    effect: || {
        said!("fact.host_load.effect", "other programs take cores and caches from target and generator")
    },
};

pub(super) fn facts(roots: &Roots, before: Option<&[u8]>, after: Option<&[u8]>) -> Vec<Fact> {
    let tick_ns = text::tick_ns();
    let loadavg = read_text(roots.proc.join("loadavg"));
    vec![
        STEAL.fact(steal(before, after, tick_ns)),
        LOAD.fact(load(loadavg.as_deref(), before, after, tick_ns)),
    ]
}

/// CPU time between the readings: the whole and the parts. Nothing where a text makes no sense or no time passed.
struct Window {
    total_ns: f64,
    steal_ns: f64,
    idle_ns: f64,
    now: Reading,
}

impl Window {
    fn between(before: Option<&[u8]>, after: Option<&[u8]>, tick_ns: u64) -> Option<Self> {
        let before = host_stat::parse(before?, tick_ns).ok()?;
        let now = host_stat::parse(after?, tick_ns).ok()?;
        let deltas: Values = delta(&before, &now);
        let of = |name: &str| deltas.get(name).copied().unwrap_or(0.0);
        let total_ns = host_stat::CPU_FIELDS.iter().map(|name| of(name)).sum();
        let window =
            Self { total_ns, steal_ns: of("steal_ns"), idle_ns: of("idle_ns") + of("iowait_ns"), now };
        (window.total_ns > 0.0).then_some(window)
    }

    fn steal_since_boot(&self) -> f64 {
        let of = |name: &&str| self.now.counter(name).unwrap_or(0) as f64;
        of(&"steal_ns") / host_stat::CPU_FIELDS.iter().map(of).sum::<f64>().max(1.0)
    }
}

fn steal(before: Option<&[u8]>, after: Option<&[u8]>, tick_ns: u64) -> Option<Judgement> {
    let window = Window::between(before, after, tick_ns)?;
    let share = window.steal_ns / window.total_ns;
    let value = said!(
        "fact.host_steal.shares",
        "{now} now, {since_boot} since boot",
        now = percent(share, 1),
        since_boot = percent(window.steal_since_boot(), 1)
    );
    if window.total_ns < TICKS_MIN * tick_ns as f64 {
        return Some(Judgement::note(
            value,
            said!("fact.host_steal.too_short", "the reading was too short to judge; run prony doctor again"),
        ));
    }
    let remedy = said!(
        "fact.host_steal.remedy",
        "move to a host with dedicated cores, or measure when neighbours are quiet"
    );
    Some(if share > STEAL_PROBLEM {
        Judgement::problem(value, remedy)
    } else if share > STEAL_WARNING {
        Judgement::warning(value, remedy)
    } else {
        Judgement::ok(value)
    })
}

fn load(
    loadavg: Option<&str>,
    before: Option<&[u8]>,
    after: Option<&[u8]>,
    tick_ns: u64,
) -> Option<Judgement> {
    let window = Window::between(before, after, tick_ns)?;
    let load_1m = host_load::parse(loadavg?.as_bytes(), None).ok()?.gauge("load_1m")?;
    let cpus = window.now.gauge("cpus").unwrap_or(1.0);
    let busy = 1.0 - (window.idle_ns + window.steal_ns) / window.total_ns;
    let value = said!(
        "fact.host_load.busy",
        "{busy} of CPU time busy now, load average {load} on {cpus} cores",
        busy = percent(busy, 0),
        load = format!("{load_1m:.2}"),
        cpus
    );
    let severity = match busy {
        busy if busy > BUSY_PROBLEM => Severity::Problem,
        busy if busy > BUSY_WARNING => Severity::Warning,
        busy if busy > BUSY_NOTE || load_1m > LOAD_NOTE * cpus => Severity::Note,
        _ => Severity::Ok,
    };
    let remedy = said!(
        "fact.host_load.remedy",
        "stop other programs (the next fact names the busiest), wait for builds to end, then run prony doctor again"
    );
    Some(Judgement::of(severity, value, remedy))
}

#[cfg(test)]
mod tests {
    use super::super::tests::check;
    use super::*;
    use Severity::{Note, Ok, Problem, Warning};

    const TICK_NS: u64 = 10_000_000;

    /// `/proc/stat` of two cores with these ticks.
    fn stat(user: u64, idle: u64, steal: u64) -> Vec<u8> {
        format!("cpu {user} 0 0 {idle} 0 0 0 {steal}\ncpu0 0 0 0 0\ncpu1 0 0 0 0\n").into_bytes()
    }

    #[test]
    fn steal_follows_the_rule_of_method_9() {
        let of = |now: (u64, u64, u64)| {
            STEAL.fact(steal(Some(&stat(100, 1_000, 0)), Some(&stat(now.0, now.1, now.2)), TICK_NS))
        };
        check(&of((100, 1_200, 0)), Ok, Some("0.0 % now"));
        check(&of((100, 1_198, 2)), Ok, Some("1.0 % now"));
        check(&of((100, 1_196, 4)), Warning, Some("2.0 % now"));
        check(&of((100, 1_180, 20)), Problem, Some("10.0 % now"));
        check(&of((100, 1_030, 10)), Note, Some("25.0 % now"));
        check(&of((100, 1_000, 0)), Note, None);
        check(&STEAL.fact(steal(None, Some(&stat(1, 1, 1)), TICK_NS)), Note, None);
        check(&STEAL.fact(steal(Some(b"x"), Some(b"y"), TICK_NS)), Note, None);
    }

    #[test]
    fn a_busy_host_is_told_from_one_that_was_busy() {
        let of = |loadavg, now: (u64, u64)| {
            LOAD.fact(load(Some(loadavg), Some(&stat(0, 0, 0)), Some(&stat(now.0, now.1, 0)), TICK_NS))
        };
        check(&of("0.10 0 0 1/9 1", (2, 198)), Ok, Some("1 % of CPU"));
        check(&of("1.50 0 0 1/9 1", (2, 198)), Note, Some("1.50 on 2 cores"));
        check(&of("0.10 0 0 1/9 1", (60, 140)), Warning, Some("30 %"));
        check(&of("0.10 0 0 1/9 1", (160, 40)), Problem, Some("80 %"));
        check(&of("nonsense", (1, 1)), Note, None);
    }
}
