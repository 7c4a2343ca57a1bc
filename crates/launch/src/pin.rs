//! Which CPUs serve the generator, which the target and which the services (`--pin`), and confining a thread to a set.
//!
//! Invariants: planning is pure; a plan names only usable CPUs; what cannot be had is said in `weakness`.
//! Absent on purpose: isolation from other processes of the host (cpusets, isolcpus), and the cores that hardware
//! threads share; both are facts for `prony doctor`.

use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};
use schema::plan::PinPlan;
use schema::said;
use schema::said::{Joint, Said};
use std::io;
use std::str::FromStr;

/// The list syntax that [`parse_list`] reads.
pub use units::format::ranges as list;

/// How CPUs are shared out.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum PinMode {
    /// Generator, target and services apart: a quarter of the CPUs, at least one, for the generator, and as many for
    /// services, if there are any and the target keeps at least as many.
    #[default]
    Auto,
    /// Nothing is confined.
    Off,
    /// As the user says.
    Explicit {
        /// CPUs of the generator's workers.
        generator: Vec<u32>,
        /// CPUs of the target.
        target: Vec<u32>,
        /// CPUs of the services; the target's where absent.
        services: Option<Vec<u32>>,
    },
}

/// Why CPUs cannot be shared out so.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PinError {
    /// Not a pin mode.
    #[error(
        "`{0}` is no pin mode\n  remedy: use auto, off, GENERATOR:TARGET such as 0:1-3, or GENERATOR:TARGET:SERVICES"
    )]
    Mode(String),
    /// Not a CPU list.
    #[error(
        "`{list}` is no CPU list: {cause}\n  remedy: write CPUs as in 0-2,5, each below {}",
        CpuSet::MAX_CPU
    )]
    List {
        /// The list as written.
        list: String,
        /// What is wrong.
        cause: &'static str,
    },
    /// A CPU that this process may not use, or that is not there.
    #[error("CPU {cpu} cannot be used here\n  remedy: choose from {usable}")]
    Unusable {
        /// The first such CPU.
        cpu: u32,
        /// What may be used, as a list.
        usable: String,
    },
}

impl FromStr for PinMode {
    type Err = PinError;

    fn from_str(text: &str) -> Result<Self, PinError> {
        match text.trim() {
            "auto" => Ok(Self::Auto),
            "off" => Ok(Self::Off),
            sets => {
                let (generator, rest) =
                    sets.split_once(':').ok_or_else(|| PinError::Mode(crate::tail::clean(text, 80)))?;
                let (target, services) =
                    rest.split_once(':').map_or((rest, None), |(target, services)| (target, Some(services)));
                Ok(Self::Explicit {
                    generator: parse_list(generator)?,
                    target: parse_list(target)?,
                    services: services.map(parse_list).transpose()?,
                })
            }
        }
    }
}

/// Shares the usable CPUs (any order, no repetition) out to generator, target and, where there are any, services.
///
/// `Auto` gives the generator the first `max(1, n / 4)` of n CPUs and the target the rest: one generator core
/// drives several target cores, and the target is what is measured. Services get as many as the generator, the last
/// ones, from three CPUs on; with two they share the target's, and the plan says so.
/// 2 CPUs → 1:1, 4 → 1:3 or 1:2:1, 8 → 2:6 or 2:4:2.
///
/// # Errors
/// An explicit set names a CPU that is not usable.
pub fn plan(mode: PinMode, usable_cpus: &[u32], has_services: bool) -> Result<PinPlan, PinError> {
    let mut usable = usable_cpus.to_vec();
    usable.sort_unstable();
    usable.dedup();
    match mode {
        PinMode::Off => Ok(unpinned(said!(
            "pin.off",
            "pinning is off: generator and target may run on the same CPUs and disturb each other"
        ))),
        PinMode::Auto => Ok(auto(&usable, has_services)),
        PinMode::Explicit { generator, target, services } => explicit(
            Sets { generator, target, services: services.filter(|_| has_services) },
            &usable,
            has_services,
        ),
    }
}

fn auto(usable: &[u32], has_services: bool) -> PinPlan {
    if usable.len() < 2 {
        return unpinned(said!(
            "pin.one_cpu",
            "only one CPU: generator and target share it, so each takes time from the other; throughput is too low, \
             latency too high, and differences between targets are blurred"
        ));
    }
    let (generator, rest) = usable.split_at((usable.len() / 4).max(1));
    let split = rest.len().saturating_sub(generator.len());
    let (target, services) = match has_services && split >= generator.len() {
        true => (&rest[..split], Some(rest[split..].to_vec())),
        false => (rest, None),
    };
    Sets { generator: generator.to_vec(), target: target.to_vec(), services }.plan(has_services)
}

fn explicit(sets: Sets, usable: &[u32], has_services: bool) -> Result<PinPlan, PinError> {
    let named = sets.generator.iter().chain(&sets.target).chain(sets.services.iter().flatten());
    if let Some(cpu) = named.copied().find(|cpu| !usable.contains(cpu)) {
        return Err(PinError::Unusable { cpu, usable: list(usable) });
    }
    Ok(sets.plan(has_services))
}

/// Who gets which CPUs.
struct Sets {
    generator: Vec<u32>,
    target: Vec<u32>,
    services: Option<Vec<u32>>,
}

impl Sets {
    /// With a sentence for each two that share a CPU.
    fn plan(self, has_services: bool) -> PinPlan {
        let of_services = has_services.then(|| self.services.as_ref().unwrap_or(&self.target));
        let pairs = [
            (said!("pin.generator_target", "generator and target"), &self.generator, Some(&self.target)),
            (said!("pin.generator_services", "generator and services"), &self.generator, of_services),
            (said!("pin.target_services", "target and services"), &self.target, of_services),
        ];
        let shares = pairs.into_iter().filter_map(|(who, one, other)| {
            let other = other?;
            let shared: Vec<u32> = one.iter().copied().filter(|cpu| other.contains(cpu)).collect();
            (!shared.is_empty()).then(|| {
                let cpus = list(&shared);
                said!("pin.share", "{who} share CPU {cpus}: each takes time from the other there", who, cpus)
            })
        });
        let shares: Vec<Said> = shares.collect();
        PinPlan {
            weakness: (!shares.is_empty()).then(|| Said::list(Joint::Semicolon, shares)),
            generator: Some(self.generator),
            target: Some(self.target),
            services: self.services,
        }
    }
}

fn unpinned(weakness: Said) -> PinPlan {
    PinPlan { weakness: Some(weakness), ..PinPlan::default() }
}

/// The CPUs that the calling thread may run on (`sched_getaffinity`), ascending. CPUs from 1024 on are not seen.
///
/// # Errors
/// The system refuses the call.
pub fn usable_cpus() -> io::Result<Vec<u32>> {
    let set = sched_getaffinity(None)?;
    Ok((0..).take(CpuSet::MAX_CPU).filter(|cpu| set.is_set(*cpu as usize)).collect())
}

/// The CPUs that another process may run on, ascending (`Cpus_allowed_list`, proc_pid_status(5)); `None` where the
/// system does not tell, or it is gone.
#[must_use]
pub fn cpus_of(pid: u32) -> Option<Vec<u32>> {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).ok()?;
    let list = status.lines().find_map(|line| line.strip_prefix("Cpus_allowed_list:"))?;
    parse_list(list.trim()).ok()
}

/// Whether a local target can run elsewhere while a thread of this process keeps its CPU busy: there are several, or
/// this process alone was confined to one (taskset), which shows in that the first process of the system is not. In a
/// container of one CPU both are confined.
#[must_use]
pub fn leaves_a_cpu(usable_cpus: &[u32]) -> bool {
    usable_cpus.len() > 1 || cpus_of(1).is_some_and(|all| all.len() > 1)
}

/// Confines the calling thread, and all that it starts from now on, to `cpus`.
///
/// # Errors
/// The list is empty, names a CPU from 1024 on, or no CPU of it may be used.
pub fn confine_this_thread(cpus: &[u32]) -> io::Result<()> {
    check_confinable(cpus).map_err(io::Error::other)?;
    let mut set = CpuSet::new();
    for cpu in cpus {
        set.set(*cpu as usize);
    }
    sched_setaffinity(None, &set)
        .map_err(|error| io::Error::other(format!("cannot be confined to CPU {}: {error}", list(cpus))))
}

pub(crate) fn check_confinable(cpus: &[u32]) -> Result<(), PinError> {
    let cause = match cpus {
        [] => "it is empty",
        cpus if cpus.iter().any(|cpu| *cpu as usize >= CpuSet::MAX_CPU) => "a CPU is too large",
        _ => return Ok(()),
    };
    Err(PinError::List { list: list(cpus), cause })
}

/// Reads Linux list syntax such as `0-2,5` (cpuset(7), "List format"): ascending, without repetition.
///
/// # Errors
/// Empty, not numbers, a range that runs backwards, or a CPU from 1024 on.
pub fn parse_list(text: &str) -> Result<Vec<u32>, PinError> {
    let fail = |cause| PinError::List { list: crate::tail::clean(text, 80), cause };
    let number = |text: &str| text.trim().parse::<u32>().map_err(|_| fail("it needs whole numbers"));
    let mut cpus = Vec::new();
    for part in text.split(',') {
        let (first, last) = match part.split_once('-') {
            Some((first, last)) => (number(first)?, number(last)?),
            None => (number(part)?, number(part)?),
        };
        if first > last {
            return Err(fail("a range runs backwards"));
        }
        // Before the range is laid out: `0-4294967295` must not fill memory.
        if last as usize >= CpuSet::MAX_CPU {
            return Err(fail("a CPU is too large"));
        }
        cpus.extend(first..=last);
    }
    cpus.sort_unstable();
    cpus.dedup();
    Ok(cpus)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `generator|target|weakness`.
    fn shown(mode: &str, usable: &[u32]) -> String {
        match mode.parse().and_then(|mode| plan(mode, usable, false)) {
            Ok(plan) => {
                let set = |cpus: Option<Vec<u32>>| cpus.as_deref().map_or("-".to_owned(), list);
                let weakness: String = plan.weakness.unwrap_or_default().chars().take(35).collect();
                format!("{}|{}|{weakness}", set(plan.generator), set(plan.target))
            }
            Err(error) => error.to_string(),
        }
    }

    #[test]
    fn cpus_are_shared_out() {
        for (mode, usable, expected) in [
            ("auto", &[0][..], "-|-|only one CPU: generator and target "),
            ("auto", &[], "-|-|only one CPU: generator and target "),
            ("auto", &[1, 0], "0|1|"),
            ("auto", &[0, 1, 2], "0|1-2|"),
            ("auto", &[0, 1, 2, 3], "0|1-3|"),
            ("auto", &[2, 3, 4, 5, 8, 9, 10, 11], "2-3|4-5,8-11|"),
            ("off", &[0, 1], "-|-|pinning is off: generator and targe"),
            ("0:1", &[0, 1], "0|1|"),
            ("0-1,3:1,2", &[0, 1, 2, 3], "0-1,3|1-2|generator and target share CPU 1: e"),
        ] {
            assert_eq!(shown(mode, usable), expected, "{mode} of {usable:?}");
        }
    }

    #[test]
    fn services_have_cpus_of_their_own_where_there_are_enough() {
        for (mode, usable, services, weakness) in [
            (
                "auto",
                &[0, 1][..],
                None,
                Some("target and services share CPU 1: each takes time from the other there"),
            ),
            ("auto", &[0, 1, 2], Some(vec![2]), None),
            ("auto", &[0, 1, 2, 3, 4, 5, 6, 7], Some(vec![6, 7]), None),
            ("0:1:2", &[0, 1, 2], Some(vec![2]), None),
            (
                "0:1:0",
                &[0, 1],
                Some(vec![0]),
                Some("generator and services share CPU 0: each takes time from the other there"),
            ),
        ] {
            let found = plan(mode.parse().unwrap(), usable, true).unwrap();
            assert_eq!(
                (found.services, found.weakness.as_deref()),
                (services, weakness),
                "{mode} {usable:?}"
            );
        }
        let without = plan("0:1:2".parse().unwrap(), &[0, 1, 2], false).unwrap();
        assert_eq!((without.services, without.weakness), (None, None), "nobody would use them");
        assert!(plan("0:1:9".parse().unwrap(), &[0, 1], true).is_err());
    }

    #[test]
    fn wrong_settings_say_what_is_right() {
        let lists = |list: &str, cause: &str| {
            format!("`{list}` is no CPU list: {cause}\n  remedy: write CPUs as in 0-2,5, each below 1024")
        };
        for (mode, expected) in [
            (
                "some",
                "`some` is no pin mode\n  remedy: use auto, off, GENERATOR:TARGET such as 0:1-3, or \
                 GENERATOR:TARGET:SERVICES"
                    .to_owned(),
            ),
            ("0:2", "CPU 2 cannot be used here\n  remedy: choose from 0-1".to_owned()),
            ("0:", lists("", "it needs whole numbers")),
            ("0:1:2:3", lists("2:3", "it needs whole numbers")),
            ("3-1:0", lists("3-1", "a range runs backwards")),
            ("0-4294967295:0", lists("0-4294967295", "a CPU is too large")),
            ("-1:0", lists("-1", "it needs whole numbers")),
        ] {
            assert_eq!(shown(mode, &[0, 1]), expected, "{mode}");
        }
    }

    #[test]
    fn a_process_that_alone_is_confined_leaves_a_cpu() {
        let me = cpus_of(std::process::id()).unwrap();
        assert_eq!(me, usable_cpus().unwrap());
        assert!(leaves_a_cpu(&[0, 1]));
        assert_eq!(leaves_a_cpu(&[0]), cpus_of(1).unwrap().len() > 1);
        assert_eq!(cpus_of(u32::MAX), None);
    }

    #[test]
    fn a_thread_is_confined_to_what_it_may_use() {
        let usable = usable_cpus().unwrap();
        let last = *usable.last().unwrap();
        let confined = std::thread::spawn(move || {
            confine_this_thread(&[last]).unwrap();
            usable_cpus().unwrap()
        });
        assert_eq!(confined.join().unwrap(), [last]);
        assert!(confine_this_thread(&[]).is_err());
        assert!(confine_this_thread(&[5000]).is_err());
    }
}
