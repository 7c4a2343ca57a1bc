//! Memory moved to and from a disk while it was measured: pages swapped, and time in which everybody waited for memory.

use super::{Draft, Judgement, Link, Rule, Scene, Severity, Stage, missing};
use crate::words::{number, percent};
use schema::finding::{FindingCause, Watched};
use schema::said;

/// Pages in per second.
const PAGES: f64 = 10.0;
/// Share of time.
const STALLED: f64 = 0.01;

pub(super) const RULE: Rule = Rule {
    cause: FindingCause::Swap,
    stage: Stage::Target,
    source: "Gregg, Systems Performance, 2nd ed. 2020, ch. 7; kernel, PSI",
    explains: &[FindingCause::DiskWait],
    judge,
};

fn judge(scene: &Scene<'_>) -> Judgement {
    let Some(pages) = scene.rate("host.memory/swap_in_pages") else { return missing("host.memory") };
    let stalled = scene.rate("host.pressure/memory_full_ns").unwrap_or_default() / 1e9;
    if pages < PAGES && stalled < STALLED {
        return Judgement::RuledOut(said!(
            "why.swap.pages_second_came_back",
            "{pages} pages a second came back from swap",
            pages = number(pages)
        ));
    }
    let text = said!(
        "why.swap.found",
        "{pages} pages a second came back from swap, and all tasks waited for memory for \
         {stalled} of the time",
        pages = number(pages),
        stalled = percent(stalled)
    );
    Draft::new(
        text,
        Severity::High,
        said!(
            "why.swap.turn_swap_off_swapoff",
            "turn swap off (`swapoff -a`, `limits.swap = false`), or give the host or the target \
             more memory"
        ),
    )
    .evidence(
        said!("why.swap.pages_swapped_per_second", "pages swapped in per second"),
        number(pages),
        Some(number(PAGES).into()),
        "host.memory/swap_in_pages",
    )
    .evidence(
        said!("why.swap.time_stalled_memory", "time stalled on memory"),
        percent(stalled),
        Some(percent(STALLED).into()),
        "host.pressure/memory_full_ns",
    )
    .link(Link::Time("host.memory/swap_in_pages".to_owned(), Watched::P99))
    .link(Link::Accounts(stalled * 10.0))
    .found()
}
