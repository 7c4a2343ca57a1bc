//! Trees under a made-up `/proc`, and one look at this very process.

use super::*;
use std::fs;
use tempfile::TempDir;

/// A made-up `/proc` with the files of a few processes.
struct FakeProc {
    folder: TempDir,
}

impl FakeProc {
    fn new() -> Self {
        Self { folder: tempfile::tempdir().unwrap() }
    }

    fn roots(&self) -> Roots {
        Roots { proc: self.folder.path().to_path_buf(), sys: self.folder.path().join("sys") }
    }

    /// A process with one thread. `children` of nothing leaves the file out, as some kernels do.
    fn put(&self, pid: u32, parent: u32, group: u32, ticks: u64, children: Option<&str>) -> &Self {
        let task = self.folder.path().join(format!("{pid}/task/{pid}"));
        fs::create_dir_all(&task).unwrap();
        fs::create_dir_all(self.folder.path().join(format!("{pid}/fd"))).unwrap();
        fs::write(self.folder.path().join(format!("{pid}/fd/0")), "").unwrap();
        let stat = format!("{pid} (x) S {parent} {group} 0 0 0 0 0 0 0 0 {ticks} 0 0 0 0 0 1 0 {pid} 0 10 0");
        fs::write(self.folder.path().join(format!("{pid}/stat")), stat).unwrap();
        fs::write(task.join("status"), "voluntary_ctxt_switches:\t2\nnonvoluntary_ctxt_switches:\t1\n")
            .unwrap();
        if let Some(children) = children {
            fs::write(task.join("children"), children).unwrap();
        }
        self
    }

    fn remove(&self, pid: u32) {
        fs::remove_dir_all(self.folder.path().join(pid.to_string())).unwrap();
    }
}

fn cpu_ticks(usage: TreeUsage) -> u64 {
    usage.cpu_ns / text::tick_ns()
}

#[test]
fn descendants_belong_whichever_way_the_kernel_tells_them() {
    for with_files in [true, false] {
        let proc = FakeProc::new();
        let children = |text| with_files.then_some(text);
        proc.put(10, 1, 10, 1, children("11 ")).put(11, 10, 10, 2, children("12 ")).put(
            12,
            11,
            10,
            4,
            children(""),
        );
        proc.put(99, 1, 99, 64, children(""));
        let usage = ProcessTree::new(&proc.roots(), 10).read().unwrap();
        assert_eq!((usage.processes, cpu_ticks(usage), usage.fds), (3, 7, Some(3)), "files: {with_files}");
        assert_eq!((usage.voluntary_switches, usage.run_delay_ns), (Some(6), None));
    }
}

#[test]
fn a_daemon_that_left_its_parent_is_still_followed() {
    let proc = FakeProc::new();
    proc.put(10, 1, 10, 1, Some("11 ")).put(11, 10, 10, 2, Some(""));
    let mut tree = ProcessTree::new(&proc.roots(), 10);
    tree.read().unwrap();
    proc.remove(10);
    proc.put(11, 1, 10, 5, Some(""));
    let usage = tree.read().unwrap();
    assert_eq!((usage.processes, cpu_ticks(usage)), (1, 6));
}

#[test]
fn a_listed_process_that_is_gone_is_skipped() {
    let proc = FakeProc::new();
    proc.put(10, 1, 10, 1, Some("11 12 ")).put(12, 10, 10, 2, Some(""));
    assert_eq!(ProcessTree::new(&proc.roots(), 10).read().unwrap().processes, 2);
}

#[test]
fn an_empty_tree_is_gone_also_when_its_number_is_reused() {
    let proc = FakeProc::new();
    proc.put(10, 1, 10, 1, Some(""));
    let mut tree = ProcessTree::new(&proc.roots(), 10);
    tree.read().unwrap();
    proc.remove(10);
    assert!(matches!(tree.read(), Err(CollectError::Gone { pid: 10 })));
    proc.put(10, 1, 10, 50, Some(""));
    assert!(matches!(tree.read(), Err(CollectError::Gone { pid: 10 })));
}

#[test]
fn the_target_is_no_part_of_its_generator() {
    let proc = FakeProc::new();
    // 20 is the target, 21 its child in the same group that the generator inherited, 30 a worker of the generator.
    proc.put(10, 1, 10, 1, Some("20 21 30 ")).put(20, 10, 20, 100, Some("22 "));
    proc.put(21, 10, 20, 100, Some("")).put(22, 20, 20, 100, Some("")).put(30, 10, 10, 2, Some(""));
    let usage = ProcessTree::new(&proc.roots(), 10).without(vec![20]).read().unwrap();
    assert_eq!((usage.processes, cpu_ticks(usage)), (2, 3));
}

#[test]
fn a_broken_file_is_an_error_not_a_missing_process() {
    let proc = FakeProc::new();
    proc.put(10, 1, 10, 1, Some(""));
    fs::write(proc.folder.path().join("10/stat"), "10 (x) S").unwrap();
    let message = ProcessTree::new(&proc.roots(), 10).read().unwrap_err().to_string();
    assert!(message.contains("10/stat") && message.contains("missing"), "{message}");
}

#[test]
fn this_process_can_be_read_and_its_totals_grow() {
    let mut tree = ProcessTree::new(&Roots::default(), std::process::id());
    let first = tree.read().unwrap();
    // Work until the kernel has accounted for it; bounded by the work, not by time.
    let mut second = first;
    for round in 0..2_000_000_u64 {
        if round % 10_000 == 0 {
            second = tree.read().unwrap();
            if second.cpu_ns > first.cpu_ns {
                break;
            }
        }
        std::hint::black_box(round);
    }
    assert!(second.cpu_ns > first.cpu_ns, "{second:?}");
    assert!(first.rss_bytes > 0 && first.threads > 0 && first.processes > 0);
    assert!(first.fds.is_some_and(|fds| fds >= 3), "{first:?}");
}
