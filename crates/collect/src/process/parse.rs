//! Pure parsers of the files under `/proc/PID` (proc(5)).
//!
//! Invariant: the program's name may hold any bytes, blanks and brackets included, and is never interpreted.

use crate::error::ParseError;
use crate::text;

/// The part of `/proc/PID/stat` that is used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ProcessStat {
    /// Ended but not yet waited for.
    pub zombie: bool,
    /// Parent.
    pub parent: u32,
    /// Process group.
    pub group: u32,
    /// Page faults of all threads that needed no disk.
    pub minor_faults: u64,
    /// Page faults of all threads that waited for a disk.
    pub major_faults: u64,
    /// User time of all threads, ended ones included.
    pub user_ticks: u64,
    /// System time of all threads, ended ones included.
    pub system_ticks: u64,
    /// User time of ended children that were waited for, with their own.
    pub children_user_ticks: u64,
    /// System time of ended children that were waited for, with their own.
    pub children_system_ticks: u64,
    /// Living threads.
    pub threads: u64,
    /// Start, in ticks since boot; tells a reused process number from the old one.
    pub start_ticks: u64,
    /// Resident pages, which the kernel adds up from rough counters per core.
    pub rss_pages: u64,
}

/// `/proc/PID/task/TID/schedstat` (Documentation/scheduler/sched-stats.rst).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SchedStat {
    /// Time on a core.
    pub run_ns: u64,
    /// Time able to run but waiting for a core.
    pub delay_ns: u64,
}

/// The part of `/proc/PID/task/TID/status` that is used.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Status {
    /// Whether the thread slept so that no signal wakes it, which mostly means: for a disk. Absent where the file does
    /// not tell.
    pub waits_for_disk: Option<bool>,
    /// Switches of this thread.
    pub switches: Switches,
    /// Resident memory of the whole process; a zombie has none.
    pub rss_bytes: Option<u64>,
}

/// The switches of one thread.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Switches {
    /// Because the thread waited.
    pub voluntary: u64,
    /// Because the core was taken away.
    pub involuntary: u64,
}

/// The name of a program as the kernel keeps it, cut or filled up with zeros to 16 bytes.
pub type Name = [u8; 16];

/// The name in `/proc/PID/stat`; empty where there is none.
#[must_use]
pub fn name(bytes: &[u8]) -> Name {
    let mut name = Name::default();
    let begin = bytes.iter().position(|byte| *byte == b'(').map_or(bytes.len(), |at| at + 1);
    let end = bytes.iter().rposition(|byte| *byte == b')').unwrap_or_default();
    let inner = bytes.get(begin..end).unwrap_or_default();
    name.iter_mut().zip(inner).for_each(|(to, from)| *to = *from);
    name
}

/// The soft limit of open files in `/proc/PID/limits`; nothing where it is unlimited or cannot be read.
#[must_use]
pub fn limit_of_files(bytes: &[u8]) -> Option<u64> {
    crate::limits::soft(text::utf8(bytes).ok()?, "Max open files")
}

/// The memory of a process in `/proc/PID/smaps_rollup`, with each shared page divided by its users. Threads of the
/// kernel and processes that have ended have none.
///
/// # Errors
/// Where the line `Pss:` is missing or no number of kB.
pub fn pss_bytes(bytes: &[u8]) -> Result<u64, ParseError> {
    let text = text::utf8(bytes)?;
    let line = text.lines().find_map(|line| line.strip_prefix("Pss:")).ok_or(ParseError::Missing("Pss:"))?;
    text::scaled("Pss", line.trim_end_matches("kB").trim(), 1_024)
}

/// Parses `/proc/PID/stat`.
///
/// # Errors
/// Where a field is missing or no number.
pub fn stat(bytes: &[u8]) -> Result<ProcessStat, ParseError> {
    let name_end =
        bytes.iter().rposition(|byte| *byte == b')').ok_or(ParseError::Missing("the name in brackets"))?;
    let fields: Vec<&str> = text::utf8(&bytes[name_end + 1..])?.split_ascii_whitespace().collect();
    // The fields are counted from the state, which proc(5) numbers 3.
    let field = |number: usize| fields.get(number - 3).copied().ok_or(ParseError::Missing("a field of stat"));
    Ok(ProcessStat {
        zombie: matches!(field(3)?, "Z" | "X"),
        parent: text::number("ppid", field(4)?)?,
        group: text::number("pgrp", field(5)?)?,
        minor_faults: text::number("minflt", field(10)?)?,
        major_faults: text::number("majflt", field(12)?)?,
        user_ticks: text::number("utime", field(14)?)?,
        system_ticks: text::number("stime", field(15)?)?,
        children_user_ticks: text::number("cutime", field(16)?)?,
        children_system_ticks: text::number("cstime", field(17)?)?,
        threads: text::number("num_threads", field(20)?)?,
        start_ticks: text::number("starttime", field(22)?)?,
        rss_pages: text::number("rss", field(24)?)?,
    })
}

/// Parses `/proc/PID/task/TID/schedstat`.
///
/// # Errors
/// Where one of the two times is missing or no number.
pub fn schedstat(bytes: &[u8]) -> Result<SchedStat, ParseError> {
    let mut words = text::utf8(bytes)?.split_ascii_whitespace();
    let mut next = |field| text::number(field, words.next().ok_or(ParseError::Missing(field))?);
    Ok(SchedStat { run_ns: next("run time")?, delay_ns: next("run delay")? })
}

/// Parses `/proc/PID/task/TID/status`.
///
/// # Errors
/// Where the switches are missing or a known value is no number.
pub fn status(bytes: &[u8]) -> Result<Status, ParseError> {
    let line = |key: &'static str| {
        let line = bytes.split(|byte| *byte == b'\n').find_map(|line| line.strip_prefix(key.as_bytes()));
        line.map(text::utf8).transpose()
    };
    let switched = |key| text::number(key, line(key)?.ok_or(ParseError::Missing(key))?.trim());
    let waits_for_disk = line("State:")?.map(|state| state.trim_start().starts_with('D'));
    let rss_bytes = line("VmRSS:")?
        .map(|value| text::scaled("VmRSS", value.trim_end_matches("kB").trim(), 1_024))
        .transpose()?;
    let switches = Switches {
        voluntary: switched("voluntary_ctxt_switches:")?,
        involuntary: switched("nonvoluntary_ctxt_switches:")?,
    };
    Ok(Status { waits_for_disk, switches, rss_bytes })
}

/// Parses `/proc/PID/task/TID/children`: numbers with blanks between.
///
/// # Errors
/// Where a word is no number.
pub fn children(bytes: &[u8]) -> Result<Vec<u32>, ParseError> {
    text::utf8(bytes)?.split_ascii_whitespace().map(|word| text::number("child", word)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn real_files_of_a_go_server() {
        let stat = stat(include_bytes!("../../fixtures/proc/process/stat")).unwrap();
        assert_eq!((stat.parent, stat.group, stat.threads), (21_273, 21_273, 8));
        assert_eq!((stat.user_ticks, stat.system_ticks), (320, 44));
        assert_eq!((stat.start_ticks, stat.rss_pages, stat.zombie), (196_023, 4_988, false));
        let sched = schedstat(include_bytes!("../../fixtures/proc/process/schedstat")).unwrap();
        assert_eq!(sched, SchedStat { run_ns: 604_092_855, delay_ns: 92_232_714 });
        let status = status(include_bytes!("../../fixtures/proc/process/thread_status")).unwrap();
        assert_eq!(status.switches, Switches { voluntary: 394, involuntary: 294 });
        assert_eq!(status.rss_bytes, Some(19_992 << 10));
        assert_eq!(children(b"21133 21140 ").unwrap(), [21_133, 21_140]);
    }

    #[test]
    fn names_limits_and_shared_memory() {
        assert_eq!(&name(include_bytes!("../../fixtures/proc/process/stat"))[..8], b"nethttp\0");
        assert_eq!(&name(b"7 (a (b) c) S 1"), b"a (b) c\0\0\0\0\0\0\0\0\0");
        assert_eq!(&name(b"7 (a name beyond sixteen bytes) S 1"), b"a name beyond si");
        for hostile in [&b""[..], b")(", b"(", b")", b"7 x"] {
            assert_eq!(name(hostile), Name::default());
        }
        assert_eq!(limit_of_files(include_bytes!("../../fixtures/proc/limits")), Some(20_000));
        assert_eq!(limit_of_files(b"Max open files unlimited unlimited files"), None);
        assert_eq!(limit_of_files(b"\xff"), None);
        assert_eq!(pss_bytes(include_bytes!("../../fixtures/proc/process/smaps_rollup")), Ok(450 << 10));
        assert!(pss_bytes(b"Rss: 1 kB\n").is_err());
        assert!(pss_bytes(b"Pss: 18446744073709551615 kB\n").is_err());
        assert!(pss_bytes(b"Pss: x kB\n").is_err());
    }

    #[test]
    fn a_name_cannot_pose_as_fields() {
        let tail = " S 1 2 3 0 -1 0 0 0 0 0 10 20 30 40 20 0 5 0 77 0 9 0";
        let plain = stat(format!("7 (server){tail}").as_bytes()).unwrap();
        assert_eq!(plain.start_ticks, 77);
        assert_eq!(stat(format!("7 (a) Z 9 9 (b){tail}").as_bytes()), Ok(plain));
        let mut bytes = b"7 (\xff\xfe)".to_vec();
        bytes.extend_from_slice(tail.as_bytes());
        assert_eq!(stat(&bytes), Ok(plain));
    }

    #[test]
    fn what_is_wrong_is_said() {
        assert!(stat(b"7 server S 1").is_err());
        assert!(stat(b"7 (server) S 1 2 3").is_err());
        assert!(stat(b")").is_err());
        assert!(schedstat(b"5").is_err());
        assert!(status(b"voluntary_ctxt_switches:\t5\n").is_err());
        assert!(status(b"VmRSS: x kB\nvoluntary_ctxt_switches: 5\nnonvoluntary_ctxt_switches: 1\n").is_err());
        assert!(children(b"12 x").is_err());
    }
}
