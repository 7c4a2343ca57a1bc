//! Which host this is: what tells it from others names the calibration's file, what changes on it makes it stale.

use crate::RunnerError;
use schema::calibration::HostIdentity;
use sha2::{Digest, Sha256};
use std::path::Path;

/// Identifies this host. Takes well below a millisecond.
///
/// # Errors
/// The system does not tell which CPUs may be used.
pub fn identity() -> Result<HostIdentity, RunnerError> {
    let system = rustix::system::uname();
    let text = |part: &std::ffi::CStr| part.to_string_lossy().into_owned();
    let found = collect::doctor::machine(&collect::Roots::default());
    let cpus =
        launch::pin::usable_cpus().map_err(RunnerError::io("ask for", Path::new("the usable CPUs")))?;
    let host = HostIdentity {
        fingerprint: String::new(),
        name: text(system.nodename()),
        machine: text(system.machine()),
        cpu_model: found.cpu_model,
        is_virtual: found.is_virtual,
        cpus: u32::try_from(cpus.len()).unwrap_or(u32::MAX),
        kernel: text(system.release()),
        prony: env!("CARGO_PKG_VERSION").to_owned(),
    };
    Ok(HostIdentity { fingerprint: fingerprint(&host), ..host })
}

/// Over what stays when the system is upgraded; each part with its length, so that no two hosts spell the same text.
fn fingerprint(host: &HostIdentity) -> String {
    let is_virtual = host.is_virtual.map_or_else(String::new, |is| is.to_string());
    let parts = [&host.name, &host.machine, host.cpu_model.as_ref().unwrap_or(&String::new()), &is_virtual]
        .map(|part| format!("{}:{part};", part.len()))
        .concat();
    Sha256::digest(parts.as_bytes()).iter().take(8).map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_fingerprint_is_of_the_machine_and_not_of_its_software() {
        let here = identity().unwrap();
        assert_eq!(here, identity().unwrap());
        assert_eq!(here.fingerprint.len(), 16);
        assert!(here.cpus > 0 && !here.kernel.is_empty());
        let upgraded = HostIdentity { kernel: "9".into(), prony: "9".into(), cpus: 9, ..here.clone() };
        assert_eq!(fingerprint(&upgraded), here.fingerprint);
        let other = HostIdentity { cpu_model: Some("another".into()), ..here.clone() };
        assert_ne!(fingerprint(&other), here.fingerprint);
        let split = |name: &str, machine: &str| {
            fingerprint(&HostIdentity { name: name.into(), machine: machine.into(), ..here.clone() })
        };
        assert_ne!(split("ab", "c"), split("a", "bc"));
    }
}
