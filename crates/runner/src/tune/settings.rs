//! Which settings of the host are tuned, to what, and why: the conservative set.
//!
//! A setting is here if it makes results better on any host, takes nothing from other programs, and is back to what it
//! was once its old value is written. Limits are only raised, never lowered.
//! Absent on purpose: `swapoff` (can exhaust memory, and its undoing is not its opposite), tcp_tw_reuse, the congestion
//! control and SMT (they change what is measured; an isolated network has the first two of its own), the clock source
//! (the kernel had a reason to leave the tsc), file-max and descriptors (no measurement is better for more), mitigations
//! (only at boot). Turbo is changed only where the user asks: without it a CPU is steadier, and another one.
//! Invariant: a name leads to a file by this table alone; nothing in a journal is taken as a path.

use collect::Roots;
use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::path::PathBuf;

/// A port range that leaves what services usually listen on (3306, 5432, 6379, 8080, 9090 …) alone.
const PORT_LOW: u64 = 16_384;
const PORT_HIGH: u64 = 65_535;
/// The kernel's own default since 5.4.
const QUEUE_MIN: u64 = 4_096;
/// Swap out only before killing.
const SWAPPINESS: u64 = 1;
const VALUE_BYTES_MAX: u64 = 256;
const CPUS_MAX: u32 = 8_192;

/// A setting that should have another value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Wish {
    pub(super) name: String,
    pub(super) now: String,
    pub(super) wanted: String,
}

/// A setting of the table.
struct Setting {
    name: &'static str,
    root: Root,
    file: &'static str,
    why: &'static str,
    /// The value that it should have in place of the present one.
    wish: fn(&str) -> Option<String>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Root {
    Proc,
    Sys,
}

const SETTINGS: [Setting; 6] = [
    Setting {
        name: "net.core.somaxconn",
        root: Root::Proc,
        file: "sys/net/core/somaxconn",
        why: "a short accept queue drops connections when many clients connect at once; listeners made from now on may have a longer one",
        wish: |now| raise(now, QUEUE_MIN),
    },
    Setting {
        name: "net.ipv4.tcp_max_syn_backlog",
        root: Root::Proc,
        file: "sys/net/ipv4/tcp_max_syn_backlog",
        why: "the same for connections that are half open",
        wish: |now| raise(now, QUEUE_MIN),
    },
    Setting {
        name: "net.ipv4.ip_local_port_range",
        root: Root::Proc,
        file: "sys/net/ipv4/ip_local_port_range",
        why: "each closed connection holds a port for 60 s; the range is only widened, and not below 16384, where services listen",
        wish: wider,
    },
    Setting {
        name: "net.ipv4.tcp_slow_start_after_idle",
        root: Root::Proc,
        file: "sys/net/ipv4/tcp_slow_start_after_idle",
        why: "kept-alive connections that rested send large answers as fast as busy ones",
        wish: |now| (now == "1").then(|| "0".to_owned()),
    },
    Setting {
        name: "vm.swappiness",
        root: Root::Proc,
        file: "sys/vm/swappiness",
        why: "with swap in place, memory of programs stays in memory while files can be dropped from the cache",
        wish: |now| (now.parse::<u64>().ok()? > 10).then(|| SWAPPINESS.to_string()),
    },
    Setting {
        name: "transparent_hugepage.enabled",
        root: Root::Sys,
        file: "kernel/mm/transparent_hugepage/enabled",
        why: "with always, memory of programs that never asked for huge pages grows and faults now and then take longer; madvise leaves them to those that ask",
        wish: |now| (now == "always").then(|| "madvise".to_owned()),
    },
];
/// Only where the user asks.
const TURBO: [Setting; 2] = [
    Setting {
        name: "turbo.intel_no_turbo",
        root: Root::Sys,
        file: "devices/system/cpu/intel_pstate/no_turbo",
        why: "the clock no longer depends on heat and on the other cores",
        wish: |now| (now == "0").then(|| "1".to_owned()),
    },
    Setting {
        name: "turbo.boost",
        root: Root::Sys,
        file: "devices/system/cpu/cpufreq/boost",
        why: "the clock no longer depends on heat and on the other cores",
        wish: |now| (now == "1").then(|| "0".to_owned()),
    },
];
const GOVERNOR: &str = "performance";
const GOVERNOR_WHY: &str =
    "a core keeps its highest clock also when it has little to do, so latency at low load is the target's";

/// Why a setting is tuned.
#[must_use]
pub fn why(name: &str) -> &'static str {
    let setting = SETTINGS.iter().chain(&TURBO).find(|setting| setting.name == name);
    setting.map_or(GOVERNOR_WHY, |setting| setting.why)
}

/// Everything that should have another value, in the order in which it is changed. What cannot be read is left alone.
pub(super) fn wishes(roots: &Roots, turbo_off: bool) -> Vec<Wish> {
    let turbo = TURBO.iter().filter(|_| turbo_off);
    let of_table = SETTINGS.iter().chain(turbo).filter_map(|setting| {
        if setting.name == "vm.swappiness" && !has_swap(roots) {
            return None;
        }
        let now = read(roots, setting.name).ok()?;
        Some(Wish { name: setting.name.to_owned(), wanted: (setting.wish)(&now)?, now })
    });
    of_table.chain(governors(roots)).collect()
}

/// A governor that the driver does not offer is not asked for.
fn governors(roots: &Roots) -> Vec<Wish> {
    let online = (0..CPUS_MAX).take_while(|cpu| cpu_folder(roots, *cpu).is_dir());
    online
        .filter_map(|cpu| {
            let name = format!("cpu{cpu}.governor");
            let now = read(roots, &name).ok().filter(|now| now != GOVERNOR)?;
            let offered =
                fs::read_to_string(cpu_folder(roots, cpu).join("cpufreq/scaling_available_governors"))
                    .ok()?;
            let is_offered = offered.split_ascii_whitespace().any(|one| one == GOVERNOR);
            is_offered.then(|| Wish { name, now, wanted: GOVERNOR.to_owned() })
        })
        .collect()
}

fn cpu_folder(roots: &Roots, cpu: u32) -> PathBuf {
    roots.sys.join(format!("devices/system/cpu/cpu{cpu}"))
}

fn has_swap(roots: &Roots) -> bool {
    // The first line is the header.
    fs::read_to_string(roots.proc.join("swaps")).is_ok_and(|text| text.lines().count() > 1)
}

fn raise(now: &str, least: u64) -> Option<String> {
    (now.parse::<u64>().ok()? < least).then(|| least.to_string())
}

fn wider(now: &str) -> Option<String> {
    let (low, high) = now.split_once(' ')?;
    let (low, high): (u64, u64) = (low.parse().ok()?, high.parse().ok()?);
    let (wide_low, wide_high) = (low.min(PORT_LOW), high.max(PORT_HIGH));
    ((wide_low, wide_high) != (low, high)).then(|| format!("{wide_low} {wide_high}"))
}

/// The file of this host that a setting is written to; `None` where prony does not tune it.
#[must_use]
pub fn written_to(name: &str) -> Option<PathBuf> {
    file(&Roots::default(), name)
}

/// The setting's file, if the table has the name.
fn file(roots: &Roots, name: &str) -> Option<PathBuf> {
    if let Some(setting) = SETTINGS.iter().chain(&TURBO).find(|setting| setting.name == name) {
        let root = if setting.root == Root::Proc { &roots.proc } else { &roots.sys };
        return Some(root.join(setting.file));
    }
    let cpu = name.strip_prefix("cpu")?.strip_suffix(".governor")?;
    let is_plain = !cpu.is_empty() && cpu.bytes().all(|byte| byte.is_ascii_digit());
    let cpu: u32 = cpu.parse().ok().filter(|cpu| is_plain && *cpu < CPUS_MAX)?;
    Some(cpu_folder(roots, cpu).join("cpufreq/scaling_governor"))
}

/// The present value: words with single blanks; of a choice, the chosen one.
pub(super) fn read(roots: &Roots, name: &str) -> io::Result<String> {
    let file = file(roots, name).ok_or_else(|| unknown(name))?;
    let mut text = String::new();
    File::open(file)?.take(VALUE_BYTES_MAX).read_to_string(&mut text)?;
    let chosen = text.split_once('[').and_then(|(_, rest)| Some(rest.split_once(']')?.0.to_owned()));
    let value = chosen.unwrap_or(text);
    Ok(value.split_ascii_whitespace().collect::<Vec<_>>().join(" "))
}

/// Sets a value and sees that it is there. No file is ever made.
pub(super) fn write(roots: &Roots, name: &str, value: &str) -> io::Result<()> {
    let file = file(roots, name).ok_or_else(|| unknown(name))?;
    let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | ' ');
    if value.is_empty() || value.len() as u64 > VALUE_BYTES_MAX || !value.chars().all(is_plain) {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "it is no value of a setting"));
    }
    // A file of the kernel takes a value in one write, and knows no truncation.
    File::options().write(true).truncate(true).open(file)?.write_all(value.as_bytes())?;
    let found = read(roots, name)?;
    if found == value { Ok(()) } else { Err(io::Error::other(format!("it reads back as {found}"))) }
}

/// Why a setting may not be changed, seen without changing it.
pub(super) fn refusal(roots: &Roots, name: &str) -> Option<io::Error> {
    let file = file(roots, name)?;
    File::options().write(true).open(file).err()
}

fn unknown(name: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidInput, format!("prony does not tune `{}`", name.escape_debug()))
}
