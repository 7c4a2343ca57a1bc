//! Facts about cores and clocks.

use super::fact::{About, File, FileFact, Judgement, field, list_count, off, on, read_text};
use crate::Roots;
use schema::doctor::{Bearing, Fact};
use schema::said;

/// Spread of the cores' clocks that is worth a note, as a share of the fastest.
const CLOCK_SPREAD_MAX: f64 = 0.05;

const CORES: About = About {
    id: "cpu.cores",
    title: || said!("fact.cpu_cores.title", "Cores"),
    bearing: Bearing::Numbers,
    effect: || {
        said!(
            "fact.cpu_cores.effect",
            "target and generator need cores of their own, and the kernel one more; else each is measured through the other"
        )
    },
};
const GOVERNOR: About = About {
    id: "cpu.governor",
    title: || said!("fact.cpu_governor.title", "Frequency governor"),
    bearing: Bearing::Numbers,
    effect: || {
        said!(
            "fact.cpu_governor.effect",
            "with any other governor than `performance` a core slows down when it has little to do, so latency at low load is too high"
        )
    },
};
const TURBO: About = About {
    id: "cpu.turbo",
    title: || said!("fact.cpu_turbo.title", "Turbo"),
    bearing: Bearing::Numbers,
    effect: || {
        said!(
            "fact.cpu_turbo.effect",
            "the clock depends on heat and on the other cores, so trials that run later or beside others are slower"
        )
    },
};

const MODEL: FileFact = FileFact {
    about: About {
        id: "cpu.model",
        title: || said!("fact.cpu_model.title", "CPU model"),
        bearing: Bearing::Numbers,
        effect: || {
            said!(
                "fact.cpu_model.effect",
                "results hold for this model; others differ in clock, caches and mitigations"
            )
        },
    },
    file: File::Proc("cpuinfo"),
    judge: |text| Some(Judgement::ok(field(text, "model name").or_else(|| field(text, "CPU part"))?)),
};
const FREQUENCY: FileFact = FileFact {
    about: About {
        id: "cpu.frequency",
        title: || said!("fact.cpu_frequency.title", "Clock of the cores now"),
        bearing: Bearing::Numbers,
        effect: || {
            said!(
                "fact.cpu_frequency.effect",
                "cores at different clocks give the target another speed from trial to trial"
            )
        },
    },
    file: File::Proc("cpuinfo"),
    judge: frequency,
};
const SMT: FileFact = FileFact {
    about: About {
        id: "cpu.smt",
        title: || said!("fact.cpu_smt.title", "Simultaneous multithreading"),
        bearing: Bearing::Numbers,
        effect: || {
            said!(
                "fact.cpu_smt.effect",
                "two logical CPUs share one core: a target beside the generator on the same core loses up to half its speed"
            )
        },
    },
    file: File::Sys("devices/system/cpu/smt/active"),
    judge: |text| match text {
        "0" => Some(Judgement::ok(off())),
        "1" => Some(Judgement::note(
            on(),
            said!(
                "fact.cpu_smt.remedy",
                "give target and generator whole cores (thread_siblings_list tells which CPUs share one), or switch it off: echo off > /sys/devices/system/cpu/smt/control"
            ),
        )),
        _ => None,
    },
};
const NUMA: FileFact = FileFact {
    about: About {
        id: "cpu.numa",
        title: || said!("fact.cpu_numa.title", "NUMA nodes"),
        bearing: Bearing::Numbers,
        effect: || {
            said!(
                "fact.cpu_numa.effect",
                "memory of another node is slower; a process that is moved between nodes changes its speed"
            )
        },
    },
    file: File::Sys("devices/system/node/online"),
    judge: |text| match list_count(text)? {
        1 => Some(Judgement::ok("1")),
        nodes => Some(Judgement::note(
            nodes.to_string(),
            said!(
                "fact.cpu_numa.remedy",
                "pin the target to the CPUs of one node, with its memory: numactl --cpunodebind=0 --membind=0"
            ),
        )),
    },
};
const VIRTUAL: FileFact = FileFact {
    about: About {
        id: "host.virtualisation",
        title: || said!("fact.host_virtualisation.title", "Virtual machine"),
        bearing: Bearing::Numbers,
        effect: || {
            said!(
                "fact.host_virtualisation.effect",
                "neighbours share the hardware and can steal CPU time; results do not carry over to bare metal"
            )
        },
    },
    file: File::Proc("cpuinfo"),
    judge: |text| {
        let flags = field(text, "flags")?;
        if flags.split_ascii_whitespace().any(|flag| flag == "hypervisor") {
            return Some(Judgement::note(
                said!("fact.yes", "yes"),
                said!(
                    "fact.host_virtualisation.remedy",
                    "watch host.steal, repeat at other times of the day, or measure on bare metal"
                ),
            ));
        }
        Some(Judgement::ok(said!("fact.no", "no")))
    },
};

pub(super) fn facts(roots: &Roots) -> Vec<Fact> {
    let status = read_text(roots.proc.join("self/status"));
    let online = read_text(roots.sys.join("devices/system/cpu/online"));
    vec![
        CORES.fact(cores(online.as_deref(), status.as_deref())),
        MODEL.read(roots),
        FREQUENCY.read(roots),
        GOVERNOR.fact(governor(&governors(roots))),
        TURBO.fact(turbo(
            read_text(roots.sys.join("devices/system/cpu/intel_pstate/no_turbo")).as_deref(),
            read_text(roots.sys.join("devices/system/cpu/cpufreq/boost")).as_deref(),
        )),
        SMT.read(roots),
        NUMA.read(roots),
        VIRTUAL.read(roots),
    ]
}

/// From the list of online CPUs and `/proc/self/status`, whose mask says which of them this process may use.
fn cores(online: Option<&str>, status: Option<&str>) -> Option<Judgement> {
    let usable = list_count(field(status?, "Cpus_allowed_list")?)?;
    let value = match online.and_then(list_count) {
        Some(online) if online != usable => {
            said!("fact.cpu_cores.usable_of", "{usable} usable of {online}", usable, online)
        }
        _ => usable.to_string().into(),
    };
    Some(match usable {
        0 | 1 => Judgement::problem(
            value,
            said!(
                "fact.cpu_cores.remedy_one",
                "use a host with at least four cores, or allow this process more (taskset, cpuset)"
            ),
        ),
        2 | 3 => Judgement::warning(
            value,
            said!(
                "fact.cpu_cores.remedy_few",
                "use a host with at least four cores; until then keep to targets of one core and trust comparisons more than absolute numbers"
            ),
        ),
        _ => Judgement::ok(value),
    })
}

/// The governor of every CPU that has one.
fn governors(roots: &Roots) -> Vec<String> {
    let Ok(entries) = std::fs::read_dir(roots.sys.join("devices/system/cpu")) else { return Vec::new() };
    entries
        .filter_map(|entry| read_text(entry.ok()?.path().join("cpufreq/scaling_governor")))
        .map(|governor| governor.trim().to_owned())
        .collect()
}

fn governor(governors: &[String]) -> Option<Judgement> {
    let mut kinds: Vec<&str> = governors.iter().map(String::as_str).collect();
    kinds.sort_unstable();
    kinds.dedup();
    match kinds.as_slice() {
        [] => None,
        ["performance"] => Some(Judgement::ok("performance")),
        _ => Some(Judgement::warning(
            kinds.join(", "),
            said!("fact.cpu_governor.remedy", "cpupower frequency-set -g performance"),
        )),
    }
}

/// Intel says `no_turbo`, the generic driver says `boost`.
fn turbo(no_turbo: Option<&str>, boost: Option<&str>) -> Option<Judgement> {
    let is_on = match (no_turbo.map(str::trim), boost.map(str::trim)) {
        (Some("0"), _) | (None, Some("1")) => true,
        (Some("1"), _) | (None, Some("0")) => false,
        _ => return None,
    };
    if !is_on {
        return Some(Judgement::ok(off()));
    }
    let switch = if no_turbo.is_some() {
        "echo 1 > /sys/devices/system/cpu/intel_pstate/no_turbo"
    } else {
        "echo 0 > /sys/devices/system/cpu/cpufreq/boost"
    };
    let remedy =
        said!("fact.cpu_turbo.remedy", "for the smallest differences switch it off: {switch}", switch);
    Some(Judgement::note(on(), remedy))
}

fn frequency(cpuinfo: &str) -> Option<Judgement> {
    let mhz: Vec<f64> = cpuinfo
        .lines()
        .filter_map(|line| line.split_once(':').filter(|(name, _)| name.trim_end() == "cpu MHz"))
        .filter_map(|(_, value)| value.trim().parse().ok())
        .filter(|mhz: &f64| mhz.is_finite() && *mhz > 0.0)
        .collect();
    let low = mhz.iter().copied().min_by(f64::total_cmp)?;
    let high = mhz.iter().copied().max_by(f64::total_cmp)?;
    if high - low > CLOCK_SPREAD_MAX * high {
        let value = said!(
            "fact.cpu_frequency.range",
            "{low} to {high} MHz",
            low = format!("{low:.0}"),
            high = format!("{high:.0}")
        );
        let remedy = said!(
            "fact.cpu_frequency.remedy",
            "set the governor to performance and pin target and generator to cores"
        );
        return Some(Judgement::note(value, remedy).amounting(high, CLOCK_SPREAD_MAX));
    }
    Some(Judgement::ok(format!("{high:.0} MHz")).amounting(high, CLOCK_SPREAD_MAX))
}

#[cfg(test)]
mod tests {
    use super::super::tests::check;
    use super::*;
    use schema::doctor::Severity::{Note, Ok, Problem, Warning};

    const CPUINFO: &str = include_str!("../../fixtures/proc/cpuinfo");

    #[test]
    fn cores_count_only_where_they_may_be_used() {
        let status = |list: &str| format!("Name:\tx\nCpus_allowed_list:\t{list}\n");
        let of = |online, list| CORES.fact(cores(Some(online), Some(&status(list))));
        check(&of("0-7", "0-7"), Ok, Some("8"));
        check(&of("0-1", "0-1"), Warning, Some("2"));
        check(&of("0-63", "4"), Problem, Some("1 usable of 64"));
        check(
            &CORES.fact(cores(Some("0-1"), Some(include_str!("../../fixtures/proc/status")))),
            Warning,
            Some("2"),
        );
        check(&CORES.fact(cores(None, None)), Note, None);
        check(&of("0-7", "7-0"), Note, None);
    }

    #[test]
    fn one_core_with_another_governor_is_enough_for_a_warning() {
        let of =
            |all: &[&str]| GOVERNOR.fact(governor(&all.iter().map(|g| (*g).to_owned()).collect::<Vec<_>>()));
        check(&of(&["performance", "performance"]), Ok, Some("performance"));
        check(&of(&["performance", "powersave"]), Warning, Some("performance, powersave"));
        check(&of(&[]), Note, None);
    }

    #[test]
    fn clocks_and_threads() {
        check(&TURBO.fact(turbo(Some("1\n"), None)), Ok, Some("off"));
        check(&TURBO.fact(turbo(Some("0\n"), None)), Note, Some("on"));
        check(&TURBO.fact(turbo(None, Some("1"))), Note, Some("on"));
        check(&TURBO.fact(turbo(None, None)), Note, None);
        check(&SMT.of_text(Some("0\n")), Ok, Some("off"));
        check(&SMT.of_text(Some("1\n")), Note, Some("on"));
        check(&SMT.of_text(Some("")), Note, None);
        check(&FREQUENCY.of_text(Some(CPUINFO)), Ok, Some("2445 MHz"));
        check(&FREQUENCY.of_text(Some("cpu MHz : 800\ncpu MHz : 3600")), Note, Some("800 to 3600 MHz"));
        check(&FREQUENCY.of_text(Some("cpu MHz : inf")), Note, None);
    }

    #[test]
    fn where_the_host_runs() {
        check(&MODEL.of_text(Some(CPUINFO)), Ok, Some("AMD EPYC"));
        check(&VIRTUAL.of_text(Some(CPUINFO)), Note, Some("yes"));
        check(&VIRTUAL.of_text(Some("flags\t\t: fpu vme tsc\n")), Ok, Some("no"));
        check(&VIRTUAL.of_text(Some("Features : fp asimd\n")), Note, None);
        check(&NUMA.of_text(Some("0\n")), Ok, Some("1"));
        check(&NUMA.of_text(Some("0-3\n")), Note, Some("4"));
        check(&NUMA.of_text(Some("x")), Note, None);
    }
}
