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
    let rss_bytes = line("VmRSS:")?
        .map(|value| text::scaled("VmRSS", value.trim_end_matches("kB").trim(), 1_024))
        .transpose()?;
    let switches = Switches {
        voluntary: switched("voluntary_ctxt_switches:")?,
        involuntary: switched("nonvoluntary_ctxt_switches:")?,
    };
    Ok(Status { switches, rss_bytes })
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
