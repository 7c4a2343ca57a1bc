//! Settings of an isolated network: which names may be set, and setting and reading them from inside.
//!
//! Invariants: only names of `net.` are taken, and of these only what each namespace has for itself, so that nothing of
//! the host changes; they are written by a thread that has entered the namespace, and read back by it.

use schema::text::nearest;
use std::fs;
use std::path::{Path, PathBuf};

/// Parts of `net.` of which every namespace has its own values, for the most part; the rest is not there inside a
/// namespace, which then says so.
const AREAS: [&str; 3] = ["net.ipv4.", "net.ipv6.", "net.core."];
/// Written inside a namespace, these still change the whole host.
const GLOBAL: [&str; 8] = [
    "net.ipv4.tcp_mem",
    "net.ipv4.udp_mem",
    "net.ipv4.tcp_max_orphans",
    "net.ipv4.tcp_allowed_congestion_control",
    "net.ipv4.inet_peer_threshold",
    "net.ipv4.inet_peer_minttl",
    "net.ipv4.inet_peer_maxttl",
    "net.ipv4.ipfrag_secret_interval",
];
/// Settings that studies of connections turn; names near them, and the same without their area, are slips.
const KNOWN: [&str; 20] = [
    "net.ipv4.tcp_tw_reuse",
    "net.ipv4.ip_local_port_range",
    "net.ipv4.ip_local_reserved_ports",
    "net.ipv4.tcp_fin_timeout",
    "net.ipv4.tcp_max_tw_buckets",
    "net.ipv4.tcp_max_syn_backlog",
    "net.ipv4.tcp_syncookies",
    "net.ipv4.tcp_syn_retries",
    "net.ipv4.tcp_keepalive_time",
    "net.ipv4.tcp_keepalive_intvl",
    "net.ipv4.tcp_keepalive_probes",
    "net.ipv4.tcp_slow_start_after_idle",
    "net.ipv4.tcp_congestion_control",
    "net.ipv4.tcp_timestamps",
    "net.ipv4.tcp_fastopen",
    "net.ipv4.tcp_rmem",
    "net.ipv4.tcp_wmem",
    "net.ipv4.tcp_window_scaling",
    "net.ipv4.tcp_abort_on_overflow",
    "net.core.somaxconn",
];
const NAME_BYTES: usize = 100;
const VALUE_BYTES: usize = 200;

/// Whether a name and its value may be set.
///
/// # Errors
/// Why not.
pub fn check(name: &str, value: &str) -> Result<(), String> {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.');
    if name.len() > NAME_BYTES || !name.chars().all(is_plain) || name.contains("..") || name.ends_with('.') {
        return Err(format!("`{}` is no name of a setting", crate::tail::clean(name, 80)));
    }
    if !AREAS.iter().any(|area| name.starts_with(area)) {
        let areas = AREAS.map(|area| format!("{area}*")).join(", ");
        return Err(format!("`{name}` is none of {areas}{}", meant(name)));
    }
    if !KNOWN.contains(&name)
        && let meant = meant(name)
        && !meant.is_empty()
        && !file(Path::new("/proc"), name).exists()
    {
        return Err(format!("this kernel has no setting `{name}`{meant}"));
    }
    if GLOBAL.contains(&name) {
        return Err(format!("`{name}` belongs to the whole host, also when it is set inside a network"));
    }
    if value.is_empty() || value.len() > VALUE_BYTES || value.chars().any(char::is_control) {
        return Err(format!("the value of `{name}` is empty, too long or not printable"));
    }
    Ok(())
}

/// The known setting that a name is meant to be, with its area or without; nothing where none is near.
fn meant(name: &str) -> String {
    let last = |name: &str| name.rsplit('.').next().unwrap_or(name).to_owned();
    let near = nearest(name, KNOWN).or_else(|| KNOWN.into_iter().find(|known| last(known) == last(name)));
    near.map(|known| format!("; did you mean `{known}`?")).unwrap_or_default()
}

/// The setting's file: dots become slashes.
fn file(proc: &Path, name: &str) -> PathBuf {
    proc.join("sys").join(name.replace('.', "/"))
}

/// Sets one and returns what reads back; to be called inside the namespace.
pub(super) fn set(name: &str, value: &str) -> Result<String, String> {
    check(name, value)?;
    let file = file(Path::new("/proc"), name);
    if !file.is_file() {
        return Err(format!("`{name}` is not there inside a network namespace of this kernel"));
    }
    fs::write(&file, value).map_err(|error| format!("`{name}` cannot be set to {value}: {error}"))?;
    let found = fs::read_to_string(&file).map_err(|error| format!("`{name}` cannot be read: {error}"))?;
    let words = |text: &str| text.split_ascii_whitespace().map(str::to_owned).collect::<Vec<_>>();
    if words(&found) == words(value) {
        Ok(words(&found).join(" "))
    } else {
        Err(format!("`{name}` was set to {value} and reads back as {}", found.trim()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_settings_of_a_namespace_are_taken() {
        for name in ["net.ipv4.tcp_tw_reuse", "net.core.somaxconn", "net.ipv6.conf.eth0.disable_ipv6"] {
            assert_eq!(check(name, "1"), Ok(()), "{name}");
        }
        for (name, cause) in [
            ("vm.swappiness", "is none of"),
            ("kernel.core_pattern", "is none of"),
            ("net.ipv4.tcp_mem", "whole host"),
            ("net.ipv4.../../vm/swappiness", "is no name"),
            ("net.ipv4/../vm", "is no name"),
            ("", "is none of"),
            ("tcp_tw_reuse", "did you mean `net.ipv4.tcp_tw_reuse`?"),
            ("net.ipv4.tcp_tw_resue", "no setting `net.ipv4.tcp_tw_resue`; did you mean"),
            ("net.core.somaxcon", "did you mean `net.core.somaxconn`?"),
            ("net.ipv4.tcp_tw_recycle", "did you mean `net.ipv4.tcp_tw_reuse`?"),
        ] {
            assert!(check(name, "1").unwrap_err().contains(cause), "{name}");
        }
        for value in ["", "1\n2", &"9".repeat(300)] {
            assert!(check("net.core.somaxconn", value).is_err(), "{value}");
        }
    }
}
