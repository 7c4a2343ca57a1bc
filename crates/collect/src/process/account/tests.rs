//! Planted faults of process trees: ended processes and threads, reused numbers, zombies.

use super::*;

const SCALE: Scale = Scale { tick_ns: 10_000_000, page_bytes: 4_096 };
const MS: u64 = 1_000_000;

/// A process with one thread; `ticks` is its user time, `run_ns` what its scheduler says.
fn process(pid: u32, ticks: u64, run_ns: u64) -> Snapshot {
    let stat = ProcessStat {
        zombie: false,
        parent: 1,
        group: pid,
        minor_faults: 7,
        major_faults: ticks,
        user_ticks: ticks,
        system_ticks: 0,
        children_user_ticks: 0,
        children_system_ticks: 0,
        threads: 1,
        start_ticks: 100,
        rss_pages: 2,
    };
    Snapshot { pid, name: Default::default(), stat, threads: Some(vec![thread(pid, run_ns)]), fds: Some(3) }
}

fn thread(tid: u32, run_ns: u64) -> ThreadSnapshot {
    let sched = SchedStat { run_ns, delay_ns: run_ns / 10 };
    let switches = Switches { voluntary: 5, involuntary: 1 };
    let status = Status { waits_for_disk: None, switches, rss_bytes: None };
    ThreadSnapshot { tid, sched: Some(sched), status }
}

fn waited_for(mut snapshot: Snapshot, children_user_ticks: u64) -> Snapshot {
    snapshot.stat.children_user_ticks = children_user_ticks;
    snapshot
}

/// CPU increases from reading to reading.
fn cpu_increases(readings: &[Vec<Snapshot>]) -> Vec<u64> {
    let mut account = Account::new(SCALE);
    let totals: Vec<u64> = readings.iter().map(|snapshots| account.absorb(snapshots).cpu_ns).collect();
    totals.windows(2).map(|pair| pair[1].checked_sub(pair[0]).expect("totals never go backwards")).collect()
}

#[test]
fn cpu_is_exact_within_a_tick() {
    let increases = cpu_increases(&[vec![process(7, 1, 17 * MS)], vec![process(7, 2, 21 * MS + 5)]]);
    assert_eq!(increases, [4 * MS + 5]);
}

#[test]
fn a_process_that_ends_does_not_pull_the_sum_down() {
    let before = vec![process(7, 10, 100 * MS), process(8, 50, 500 * MS)];
    let after = vec![process(7, 11, 110 * MS)];
    assert_eq!(cpu_increases(&[before, after]), [10 * MS]);
}

#[test]
fn what_a_child_used_after_its_last_reading_is_found_with_its_parent() {
    // The child was seen with 50 ticks and ended with 53; one that was never seen used 4.
    let before = vec![waited_for(process(7, 10, 100 * MS), 20), process(8, 50, 500 * MS)];
    let after = vec![waited_for(process(7, 10, 100 * MS), 20 + 53 + 4)];
    assert_eq!(cpu_increases(&[before.clone(), after.clone()]), [7 * 10 * MS]);

    let mut generator = Account::new(SCALE);
    generator.ignore_reaped();
    let first = generator.absorb(&before).cpu_ns;
    assert_eq!(generator.absorb(&after).cpu_ns, first, "the ended child may be the target");
}

#[test]
fn a_reused_number_is_another_process() {
    let mut second = process(8, 1, 10 * MS);
    second.stat.start_ticks = 900;
    assert_eq!(cpu_increases(&[vec![process(8, 50, 500 * MS)], vec![second]]), [10 * MS]);
}

#[test]
fn ended_threads_stay_in_the_sum_and_ticks_bound_what_was_missed() {
    let with_threads = |ticks, threads: &[(u32, u64)]| {
        let mut snapshot = process(7, ticks, 0);
        snapshot.threads = Some(threads.iter().map(|(tid, run_ns)| thread(*tid, *run_ns)).collect());
        vec![snapshot]
    };
    let ended = [with_threads(10, &[(7, 60 * MS), (9, 41 * MS)]), with_threads(10, &[(7, 65 * MS)])];
    assert_eq!(cpu_increases(&ended), [5 * MS]);
    let reused =
        [with_threads(10, &[(7, 60 * MS), (9, 41 * MS)]), with_threads(10, &[(7, 60 * MS), (9, 2 * MS)])];
    assert_eq!(cpu_increases(&reused), [2 * MS]);
    let missed = [with_threads(10, &[(7, 60 * MS), (9, 41 * MS)]), with_threads(30, &[(7, 65 * MS)])];
    assert_eq!(cpu_increases(&missed), [300 * MS - 101 * MS]);
}

#[test]
fn threads_that_cannot_be_read_are_absent_not_zero() {
    let mut snapshot = process(7, 10, 0);
    snapshot.threads = None;
    let usage = Account::new(SCALE).absorb(&[snapshot.clone()]);
    assert_eq!((usage.cpu_ns, usage.run_delay_ns, usage.voluntary_switches), (100 * MS, None, None));
    let with_hidden = Account::new(SCALE).absorb(&[process(8, 1, 10 * MS), snapshot.clone()]);
    assert_eq!(with_hidden.run_delay_ns, None, "a sum without one of the processes is too low");
    let unreadable_once = [vec![process(7, 10, 105 * MS)], vec![snapshot], vec![process(7, 11, 112 * MS)]];
    assert_eq!(cpu_increases(&unreadable_once), [0, 7 * MS]);
}

#[test]
fn gauges_are_of_the_living() {
    let mut zombie = process(8, 5, 50 * MS);
    zombie.stat.zombie = true;
    let usage = Account::new(SCALE).absorb(&[process(7, 10, 100 * MS), zombie]);
    assert_eq!((usage.processes, usage.threads, usage.rss_bytes, usage.fds), (1, 1, 8_192, Some(3)));
    assert_eq!(usage.cpu_ns, 150 * MS, "what a zombie used still counts");
    assert_eq!((usage.voluntary_switches, usage.involuntary_switches), (Some(10), Some(2)));
    let mut exact = process(7, 10, 100 * MS);
    exact.threads.iter_mut().flatten().for_each(|thread| thread.status.rss_bytes = Some(9_000));
    assert_eq!(Account::new(SCALE).absorb(&[exact]).rss_bytes, 9_000);
    let mut hidden = process(9, 0, 0);
    hidden.fds = None;
    assert_eq!(Account::new(SCALE).absorb(&[process(7, 1, 0), hidden]).fds, None);
}

#[test]
fn faults_of_ended_processes_stay_in_the_sum() {
    let mut account = Account::new(SCALE);
    let first = account.absorb(&[process(7, 10, 0), process(8, 50, 0)]);
    let second = account.absorb(&[process(7, 11, 0)]);
    assert_eq!((first.major_faults, second.major_faults), (60, 61));
    assert_eq!((first.minor_faults, second.minor_faults), (14, 14));
}
