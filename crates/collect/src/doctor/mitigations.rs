//! Facts about what the kernel and the CPU's microcode do against speculative attacks, which makes system calls and
//! switches between processes slower (Documentation/admin-guide/hw-vuln).

use super::fact::{About, Judgement, VALUE_CHARS_MAX, read_text};
use crate::Roots;
use schema::doctor::{Bearing, Fact};
use schema::said;
use schema::said::{Joint, Said};

/// More than the kernel knows today; what is beyond is not looked at.
const VULNERABILITIES_MAX: usize = 64;
/// How much of what is done against one is repeated.
const SHOWN_CHARS_MAX: usize = 40;

const MITIGATIONS: About = About {
    id: "cpu.mitigations",
    title: || said!("fact.cpu_mitigations.title", "Mitigations of CPU vulnerabilities"),
    bearing: Bearing::Numbers,
    effect: || {
        said!(
            "fact.cpu_mitigations.effect",
            "they make every system call and every switch between processes slower, more on some CPUs than on others: services that make many are compared with them, not without"
        )
    },
};
const MICROCODE: About = About {
    id: "cpu.microcode",
    title: || said!("fact.cpu_microcode.title", "Microcode"),
    bearing: Bearing::Numbers,
    effect: || {
        said!(
            "fact.cpu_microcode.effect",
            "updates switch mitigations on and change the speed of single instructions"
        )
    },
};

pub(super) fn facts(roots: &Roots) -> Vec<Fact> {
    let cmdline = read_text(roots.proc.join("cmdline"));
    let cpuinfo = read_text(roots.proc.join("cpuinfo"));
    vec![
        MITIGATIONS.fact(mitigations(&vulnerabilities(roots), cmdline.as_deref())),
        MICROCODE.fact(cpuinfo.as_deref().and_then(microcode)),
    ]
}

/// Name and state of each vulnerability that the kernel knows, in order of their names.
fn vulnerabilities(roots: &Roots) -> Vec<(String, String)> {
    let Ok(entries) = std::fs::read_dir(roots.sys.join("devices/system/cpu/vulnerabilities")) else {
        return Vec::new();
    };
    let mut found: Vec<(String, String)> = entries
        .take(VULNERABILITIES_MAX)
        .filter_map(|entry| {
            let entry = entry.ok()?;
            Some((entry.file_name().into_string().ok()?, read_text(entry.path())?.trim().to_owned()))
        })
        .filter(|(_, state)| !state.is_empty())
        .collect();
    found.sort();
    found
}

fn mitigations(found: &[(String, String)], cmdline: Option<&str>) -> Option<Judgement> {
    if found.is_empty() {
        return None;
    }
    let switched_off =
        cmdline.is_some_and(|line| line.split_whitespace().any(|word| word == "mitigations=off"));
    let having = |prefix: &str| -> Vec<String> {
        let state = |state: &str| state.strip_prefix(prefix).map(short);
        let with = |(name, text): &(String, String)| {
            let how = state(text)?;
            Some(if how.is_empty() { name.clone() } else { format!("{name} ({how})") })
        };
        found.iter().filter_map(with).collect()
    };
    let (vulnerable, mitigated) = (having("Vulnerable"), having("Mitigation"));
    let mut parts = Vec::new();
    if switched_off {
        parts.push(said!("fact.cpu_mitigations.off", "switched off at boot"));
    }
    if !vulnerable.is_empty() {
        let names = joined(&vulnerable);
        parts.push(said!("fact.cpu_mitigations.vulnerable", "vulnerable: {names}", names));
    }
    if !mitigated.is_empty() {
        let names = joined(&mitigated);
        parts.push(said!("fact.cpu_mitigations.mitigated", "mitigated: {names}", names));
    }
    if parts.is_empty() {
        parts.push(said!("fact.cpu_mitigations.none", "none needed"));
    }
    let value = Said::list(Joint::Semicolon, parts);
    Some(if switched_off || !vulnerable.is_empty() {
        Judgement::note(
            value,
            said!(
                "fact.cpu_mitigations.remedy",
                "update kernel and microcode as in production, or compare only with hosts that have the same list"
            ),
        )
    } else {
        Judgement::ok(value)
    })
}

/// As much of a list as a fact shows.
fn joined(names: &[String]) -> String {
    names.join(", ").chars().take(VALUE_CHARS_MAX).collect()
}

/// `: Safe RET, no microcode` → `Safe RET, no microcode`; what follows the first semicolon is detail.
fn short(state: &str) -> String {
    let state = state.trim_start_matches(':').split(';').next().unwrap_or_default().trim();
    state.chars().filter(|c| !c.is_control()).take(SHOWN_CHARS_MAX).collect()
}

/// All cores should have the same.
fn microcode(cpuinfo: &str) -> Option<Judgement> {
    let lines = cpuinfo.lines().filter_map(|line| line.split_once(':'));
    let mut versions: Vec<&str> =
        lines.filter(|(name, _)| name.trim_end() == "microcode").map(|(_, value)| value.trim()).collect();
    versions.sort_unstable();
    versions.dedup();
    match versions.as_slice() {
        [] | [""] => None,
        [one] => Some(Judgement::ok(*one)),
        several => {
            let remedy = said!("fact.cpu_microcode.remedy", "boot again, so that all cores load the same");
            Some(Judgement::warning(several.join(", "), remedy))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{Planted, check};
    use super::*;
    use schema::doctor::Severity::{Note, Ok, Warning};

    /// The two facts of a host with these vulnerabilities, this kernel command line and this `/proc/cpuinfo`.
    fn host(states: &[(&str, &str)], cmdline: &str, cpuinfo: &str) -> Vec<Fact> {
        let planted = Planted::new();
        for (name, state) in states {
            planted.sys(&format!("devices/system/cpu/vulnerabilities/{name}"), state);
        }
        planted.proc("cmdline", cmdline);
        planted.proc("cpuinfo", cpuinfo);
        facts(&planted.roots)
    }

    #[test]
    fn mitigations_are_listed_by_state() {
        let of = |states: &[(&str, &str)], cmdline: &str| host(states, cmdline, "").remove(0);
        let safe = ("mds", "Not affected\n");
        let retpolines = ("spectre_v2", "Mitigation: Retpolines; STIBP: disabled\n");
        check(&of(&[safe], "quiet"), Ok, Some("none needed"));
        check(&of(&[retpolines, safe], "quiet"), Ok, Some("mitigated: spectre_v2 (Retpolines)"));
        let open = ("spec_rstack_overflow", "Vulnerable: Safe RET, no microcode\n");
        let found = of(&[retpolines, open], "quiet");
        check(&found, Note, Some("vulnerable: spec_rstack_overflow (Safe RET, no microcode); mitigated: sp"));
        check(
            &of(&[("mds", "Vulnerable\n")], "quiet mitigations=off"),
            Note,
            Some("switched off at boot; vul"),
        );
        check(&of(&[("mds", "\n")], ""), Note, None);
        check(&of(&[], "mitigations=off"), Note, None);
    }

    #[test]
    fn microcode_is_the_same_on_all_cores_or_a_warning() {
        let of = |cpuinfo: &str| host(&[], "", cpuinfo).remove(1);
        check(&of("microcode\t: 0x1\nmicrocode\t: 0x1\n"), Ok, Some("0x1"));
        check(&of("microcode\t: 0x1\nmicrocode\t: 0x2\n"), Warning, Some("0x1, 0x2"));
        check(&of("processor\t: 0\n"), Note, None);
    }
}
