//! Facts about the kernel: version, clock source, descriptors.

use super::fact::{About, File, FileFact, Judgement};
use crate::Roots;
use schema::doctor::{Bearing, Fact};
use schema::said;

/// Each connection takes a descriptor, on either side.
const SOFT_MIN: u64 = 4_096;
const HARD_MIN: u64 = 65_536;
const FILE_MAX_MIN: u64 = 200_000;
/// io_uring with a single issuer and deferred task run came with 6.0 and 6.1.
const KERNEL_MIN: (u32, u32) = (6, 1);

const FACTS: [FileFact; 4] = [
    FileFact {
        about: About {
            id: "kernel.version",
            title: || said!("fact.kernel_version.title", "Kernel"),
            bearing: Bearing::Numbers,
            effect: || {
                said!(
                    "fact.kernel_version.effect",
                    "io_uring with deferred task run needs 6.1; older kernels are driven through epoll, at more CPU per request"
                )
            },
        },
        file: File::Proc("sys/kernel/osrelease"),
        judge: |text| {
            let mut parts = text.split(|c: char| !c.is_ascii_digit()).map(str::parse::<u32>);
            let version = (parts.next()?.ok()?, parts.next()?.ok()?);
            Some(if version < KERNEL_MIN {
                Judgement::note(
                    text,
                    said!(
                        "fact.kernel_version.remedy",
                        "use kernel 6.1 or later where the generator's cost matters"
                    ),
                )
            } else {
                Judgement::ok(text)
            })
        },
    },
    FileFact {
        about: About {
            id: "kernel.clock_source",
            title: || said!("fact.kernel_clock_source.title", "Clock source"),
            bearing: Bearing::Numbers,
            effect: || {
                said!(
                    "fact.kernel_clock_source.effect",
                    "every time stamp reads it: the tsc takes some 20 ns, a source that needs a system call or a device 0.2 to 2 µs"
                )
            },
        },
        file: File::Sys("devices/system/clocksource/clocksource0/current_clocksource"),
        judge: |text| match text {
            "" => None,
            "tsc" | "arch_sys_counter" => Some(Judgement::ok(text)),
            "kvm-clock" | "hyperv_clocksource_tsc_page" => Some(Judgement::note(
                text,
                said!(
                    "fact.kernel_clock_source.remedy_virtual",
                    "read without a system call, but adjusted by the hypervisor; tsc where it is offered"
                ),
            )),
            _ => Some(Judgement::warning(
                text,
                said!(
                    "fact.kernel_clock_source.remedy",
                    "echo tsc > /sys/devices/system/clocksource/clocksource0/current_clocksource, where the kernel log does not call it unstable"
                ),
            )),
        },
    },
    FileFact {
        about: About {
            id: "limits.descriptors",
            title: || said!("fact.limits_descriptors.title", "Open files of one process"),
            bearing: Bearing::SomeLoads,
            effect: || {
                said!(
                    "fact.limits_descriptors.effect",
                    "each connection takes one in the generator and one in the target; beyond it connections fail"
                )
            },
        },
        file: File::Proc("self/limits"),
        judge: descriptors,
    },
    FileFact {
        about: About {
            id: "limits.file_max",
            title: || said!("fact.limits_file_max.title", "Open files of the whole host"),
            bearing: Bearing::SomeLoads,
            effect: || {
                said!(
                    "fact.limits_file_max.effect",
                    "generator, target and services share it; beyond it nothing can be opened"
                )
            },
        },
        file: File::Proc("sys/fs/file-max"),
        judge: |text| {
            let files: u64 = text.parse().ok()?;
            Some(if files < FILE_MAX_MIN {
                Judgement::warning(
                    text,
                    said!(
                        "fact.limits_file_max.remedy",
                        "sysctl -w fs.file-max={files}",
                        files = 10 * FILE_MAX_MIN
                    ),
                )
            } else {
                Judgement::ok(text)
            })
        },
    },
];

pub(super) fn facts(roots: &Roots) -> Vec<Fact> {
    FACTS.iter().map(|fact| fact.read(roots)).collect()
}

/// From the line `Max open files  20000  20000  files` of `/proc/self/limits`.
fn descriptors(limits: &str) -> Option<Judgement> {
    let line = limits.lines().find_map(|line| line.strip_prefix("Max open files"))?;
    let mut words = line.split_ascii_whitespace();
    let (soft_text, hard_text) = (words.next()?, words.next()?);
    let limit = |text: &str| if text == "unlimited" { Some(u64::MAX) } else { text.parse().ok() };
    let (soft, hard) = (limit(soft_text)?, limit(hard_text)?);
    let value = said!(
        "fact.limits_descriptors.limits",
        "{soft}, may be raised to {hard}",
        soft = soft_text,
        hard = hard_text
    );
    Some(if soft < SOFT_MIN {
        Judgement::warning(
            value,
            said!(
                "fact.limits_descriptors.remedy_soft",
                "ulimit -n {hard} before starting prony, or LimitNOFILE= in its unit",
                hard = hard_text
            ),
        )
    } else if hard < HARD_MIN {
        Judgement::note(
            value,
            said!(
                "fact.limits_descriptors.remedy_hard",
                "for more connections than this raise the hard limit (/etc/security/limits.conf, LimitNOFILE=)"
            ),
        )
    } else {
        Judgement::ok(value)
    })
}

#[cfg(test)]
mod tests {
    use super::super::tests::check;
    use super::*;
    use schema::doctor::Severity::{self, Note, Ok, Warning};

    #[test]
    fn settings() {
        let is = |id: &str, text: Option<&str>, severity: Severity, value: Option<&str>| {
            let fact = FACTS.iter().find(|fact| fact.about.id == id).unwrap();
            check(&fact.of_text(text), severity, value);
        };
        is("kernel.version", Some("6.18.44-fc-v657\n"), Ok, Some("6.18.44-fc-v657"));
        is("kernel.version", Some("5.15.0-91-generic\n"), Note, Some("5.15"));
        is("kernel.version", Some("unknown\n"), Note, None);
        is("kernel.clock_source", Some("tsc\n"), Ok, Some("tsc"));
        is("kernel.clock_source", Some("kvm-clock\n"), Note, Some("kvm-clock"));
        is("kernel.clock_source", Some("hpet\n"), Warning, Some("hpet"));
        is(
            "limits.descriptors",
            Some(include_str!("../../fixtures/proc/limits")),
            Note,
            Some("20000, may be"),
        );
        let line = |soft, hard| format!("Max open files            {soft}       {hard}      files     \n");
        is(
            "limits.descriptors",
            Some(&line("1024", "524288")),
            Warning,
            Some("1024, may be raised to 524288"),
        );
        is("limits.descriptors", Some(&line("65536", "unlimited")), Ok, Some("unlimited"));
        is("limits.descriptors", Some("Max open files x y"), Note, None);
        is("limits.file_max", Some("2466186\n"), Ok, Some("2466186"));
        is("limits.file_max", Some("8192\n"), Warning, Some("8192"));
    }
}
