//! The processes of a target: the first and all below it, from `/proc`.

use std::collections::VecDeque;
use std::fs;
use std::path::Path;

/// Most processes that are looked at.
const PROCESSES_MAX: usize = 4096;

/// One process.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Process {
    pub(super) pid: u32,
    /// File name of the program it runs; empty where it is unknown.
    pub(super) program: String,
    /// CPU time so far, in clock ticks.
    pub(super) cpu_ticks: u64,
}

/// `root` and its descendants, parents first. A process that ends meanwhile is left out.
pub(super) fn below(proc: &Path, root: u32) -> Vec<Process> {
    let mut found = Vec::new();
    let mut open = VecDeque::from([root]);
    while let Some(pid) = open.pop_front().filter(|_| found.len() < PROCESSES_MAX) {
        let folder = proc.join(pid.to_string());
        let Ok(stat) = fs::read_to_string(folder.join("stat")) else { continue };
        let program = fs::read_link(folder.join("exe")).ok();
        let program =
            program.and_then(|path| path.file_name().map(|name| name.to_string_lossy().into_owned()));
        found.push(Process { pid, program: program.unwrap_or_default(), cpu_ticks: cpu_ticks(&stat) });
        open.extend(children(&folder));
    }
    found
}

fn children(folder: &Path) -> Vec<u32> {
    let Ok(threads) = fs::read_dir(folder.join("task")) else { return Vec::new() };
    let lists =
        threads.flatten().filter_map(|thread| fs::read_to_string(thread.path().join("children")).ok());
    lists
        .flat_map(|list| list.split_whitespace().filter_map(|pid| pid.parse().ok()).collect::<Vec<_>>())
        .collect()
}

/// User and system time, fields 14 and 15 of `/proc/PID/stat`; the name before them may hold anything but the last `)`.
fn cpu_ticks(stat: &str) -> u64 {
    let after = stat.rsplit_once(')').map_or("", |(_, after)| after);
    let field = |at: usize| after.split_whitespace().nth(at).and_then(|text| text.parse::<u64>().ok());
    field(11).unwrap_or_default().saturating_add(field(12).unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tree_is_found_with_parents_first() {
        let proc = tempfile::tempdir().unwrap();
        let process = |pid: u32, children: &str, ticks: u64| {
            let task = proc.path().join(format!("{pid}/task/{pid}"));
            fs::create_dir_all(&task).unwrap();
            fs::write(task.join("children"), children).unwrap();
            let stat = format!("{pid} (a ) b) S 1 1 1 0 -1 0 0 0 0 0 {ticks} 2 0 0");
            fs::write(proc.path().join(format!("{pid}/stat")), stat).unwrap();
        };
        process(10, "11 12 ", 5);
        process(11, "13", 6);
        process(12, "", 7);
        let got: Vec<(u32, u64)> =
            below(proc.path(), 10).iter().map(|one| (one.pid, one.cpu_ticks)).collect();
        assert_eq!(got, [(10, 7), (11, 8), (12, 9)], "13 has ended");
        assert_eq!(below(proc.path(), 99), []);
        assert_eq!(cpu_ticks("nonsense"), 0);
    }
}
