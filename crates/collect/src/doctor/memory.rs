//! Facts about memory.

use super::fact::{About, File, FileFact, Judgement, field, gib, off, read_text};
use crate::Roots;
use schema::doctor::{Bearing, Fact};
use schema::said;
use schema::said::Said;

/// Share of memory that should be available before a run.
const AVAILABLE_MIN: f64 = 0.10;
/// The kernel keeps a part of the memory for itself, from boot to boot not quite the same.
const TOTAL_TOLERANCE: f64 = 0.01;
/// With less than this the kernel drops cached files before it swaps out memory of programs.
const SWAPPINESS_MAX: u64 = 10;

const TOTAL: FileFact = FileFact {
    about: About {
        id: "memory.available",
        title: || said!("fact.memory_available.title", "Memory"),
        bearing: Bearing::SomeLoads,
        effect: || {
            said!(
                "fact.memory_available.effect",
                "with little memory free the kernel reclaims pages during the run, which shows as latency"
            )
        },
    },
    file: File::Proc("meminfo"),
    judge: |text| {
        let (total, available) = (bytes(text, "MemTotal")?, bytes(text, "MemAvailable")?);
        let value = said!(
            "fact.memory_available.of",
            "{available} available of {total}",
            available = gib(available),
            total = gib(total)
        );
        if (available as f64) < AVAILABLE_MIN * total as f64 {
            let remedy = said!(
                "fact.memory_available.remedy",
                "stop programs that hold memory, or use a host with more"
            );
            return Some(Judgement::warning(value, remedy).amounting(total as f64, TOTAL_TOLERANCE));
        }
        Some(Judgement::ok(value).amounting(total as f64, TOTAL_TOLERANCE))
    },
};
const SWAP: FileFact = FileFact {
    about: About {
        id: "memory.swap",
        title: || said!("fact.memory_swap.title", "Swap"),
        bearing: Bearing::SomeLoads,
        effect: || {
            said!(
                "fact.memory_swap.effect",
                "a page that was swapped out costs a disk read of milliseconds in the middle of a request"
            )
        },
    },
    file: File::Proc("meminfo"),
    judge: |text| {
        let (total, free) = (bytes(text, "SwapTotal")?, bytes(text, "SwapFree")?);
        let used = total.saturating_sub(free);
        Some(match (total, used) {
            (0, _) => Judgement::ok(off()),
            (_, 0) => Judgement::note(
                said!("fact.memory_swap.unused", "{total}, unused", total = gib(total)),
                no_swap(),
            ),
            _ => Judgement::warning(
                said!(
                    "fact.memory_swap.used",
                    "{used} of {total} in use",
                    used = gib(used),
                    total = gib(total)
                ),
                no_swap(),
            ),
        })
    },
};
const HUGE_PAGES: FileFact = FileFact {
    about: About {
        id: "memory.thp",
        title: || said!("fact.memory_thp.title", "Transparent huge pages"),
        bearing: Bearing::Numbers,
        effect: || {
            said!(
                "fact.memory_thp.effect",
                "with `always` the kernel makes huge pages whenever it can: memory looks larger and faults take longer now and then"
            )
        },
    },
    file: File::Sys("kernel/mm/transparent_hugepage/enabled"),
    judge: |text| {
        let chosen = text.split_once('[')?.1.split_once(']')?.0;
        Some(match chosen {
            "always" => Judgement::note(
                chosen,
                said!("fact.memory_thp.remedy", "echo madvise > /sys/kernel/mm/transparent_hugepage/enabled"),
            ),
            _ => Judgement::ok(chosen),
        })
    },
};

const SWAPPINESS: About = About {
    id: "memory.swappiness",
    title: || said!("fact.memory_swappiness.title", "Swappiness"),
    bearing: Bearing::SomeLoads,
    effect: || {
        said!(
            "fact.memory_swappiness.effect",
            "above 10 the kernel swaps out memory of programs to keep files in its cache, which a target that rests between trials pays for"
        )
    },
};

pub(super) fn facts(roots: &Roots) -> Vec<Fact> {
    let mut facts: Vec<Fact> = [TOTAL, SWAP].iter().map(|fact| fact.read(roots)).collect();
    let swappiness = read_text(roots.proc.join("sys/vm/swappiness"));
    let meminfo = read_text(roots.proc.join("meminfo"));
    let swap = meminfo.and_then(|text| bytes(&text, "SwapTotal"));
    facts.push(SWAPPINESS.fact(swappiness.and_then(|text| judge_swappiness(text.trim(), swap))));
    facts.push(HUGE_PAGES.read(roots));
    facts
}

fn no_swap() -> Said {
    said!("fact.memory_swap.remedy", "swapoff -a for the time of the run")
}

/// Without swap it decides nothing.
fn judge_swappiness(text: &str, swap_bytes: Option<u64>) -> Option<Judgement> {
    let value: u64 = text.parse().ok()?;
    Some(match swap_bytes {
        Some(0) => {
            Judgement::ok(said!("fact.memory_swappiness.without_swap", "{value}, without swap", value))
        }
        _ if value > SWAPPINESS_MAX => Judgement::note(
            text,
            said!("fact.memory_swappiness.remedy", "sysctl -w vm.swappiness=1, or swapoff -a"),
        ),
        _ => Judgement::ok(text),
    })
}

/// A value of `/proc/meminfo`, which is in kB of 1024 bytes.
pub(super) fn bytes(meminfo: &str, key: &str) -> Option<u64> {
    field(meminfo, key)?.strip_suffix("kB")?.trim().parse::<u64>().ok()?.checked_mul(1_024)
}

#[cfg(test)]
mod tests {
    use super::super::tests::check;
    use super::*;
    use schema::doctor::Severity::{Note, Ok, Warning};

    const MEMINFO: &str = include_str!("../../fixtures/proc/meminfo");

    #[test]
    fn memory_and_swap() {
        check(&TOTAL.of_text(Some(MEMINFO)), Ok, Some("of 23.5 GiB"));
        check(&TOTAL.of_text(Some("MemTotal: 1000 kB\nMemAvailable: 99 kB")), Warning, Some("0.0 GiB"));
        check(&TOTAL.of_text(Some("MemTotal: 1000 kB\n")), Note, None);
        check(&SWAP.of_text(Some(MEMINFO)), Ok, Some("off"));
        check(
            &SWAP.of_text(Some("SwapTotal: 2097152 kB\nSwapFree: 2097152 kB")),
            Note,
            Some("2.0 GiB, unused"),
        );
        check(
            &SWAP.of_text(Some("SwapTotal: 2097152 kB\nSwapFree: 1048576 kB")),
            Warning,
            Some("1.0 GiB of"),
        );
        check(&SWAP.of_text(Some("SwapTotal: lots\nSwapFree: 1 kB")), Note, None);
    }

    #[test]
    fn swappiness_matters_where_there_is_swap() {
        let of = |text: &str, swap| SWAPPINESS.fact(judge_swappiness(text, swap));
        check(&of("60", Some(0)), Ok, Some("60, without swap"));
        check(&of("60", Some(1 << 30)), Note, Some("60"));
        check(&of("1", Some(1 << 30)), Ok, Some("1"));
        check(&of("60", None), Note, Some("60"));
        check(&of("much", None), Note, None);
    }

    #[test]
    fn huge_pages() {
        check(&HUGE_PAGES.of_text(Some("always [madvise] never\n")), Ok, Some("madvise"));
        check(&HUGE_PAGES.of_text(Some("[always] madvise never\n")), Note, Some("always"));
        check(&HUGE_PAGES.of_text(Some("always")), Note, None);
        check(&HUGE_PAGES.of_text(None), Note, None);
    }
}
