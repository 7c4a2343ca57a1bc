//! What kind of machine this is, read in a moment: the part of the doctor that tells one host from another.

use super::fact::{field, read_text};
use crate::Roots;

/// CPU model and virtualisation, from `/proc/cpuinfo`; absent where they cannot be read.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Machine {
    /// `model name`, on ARM `CPU part`.
    pub cpu_model: Option<String>,
    /// Whether a hypervisor shows itself in the flags.
    pub is_virtual: Option<bool>,
}

/// Longest model name that is kept.
const MODEL_CHARS_MAX: usize = 120;

/// Reads what kind of machine this is.
#[must_use]
pub fn machine(roots: &Roots) -> Machine {
    read_text(roots.proc.join("cpuinfo")).map_or_else(Machine::default, |text| parse(&text))
}

fn parse(text: &str) -> Machine {
    let model = field(text, "model name").or_else(|| field(text, "CPU part"));
    let flags = field(text, "flags");
    Machine {
        cpu_model: model.map(|model| model.chars().take(MODEL_CHARS_MAX).collect()),
        is_virtual: flags.map(|flags| flags.split_ascii_whitespace().any(|flag| flag == "hypervisor")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn model_and_hypervisor_are_found() {
        let of = |model: &str, is_virtual| Machine { cpu_model: Some(model.to_owned()), is_virtual };
        let x86 = "processor\t: 0\nmodel name\t: AMD EPYC\nflags\t\t: fpu vme hypervisor lm\n";
        assert_eq!(parse(x86), of("AMD EPYC", Some(true)));
        assert_eq!(parse(&x86.replace(" hypervisor", "")), of("AMD EPYC", Some(false)));
        assert_eq!(parse("processor\t: 0\nCPU part\t: 0xd0c\n"), of("0xd0c", None));
        assert_eq!(parse(""), Machine::default());
    }
}
