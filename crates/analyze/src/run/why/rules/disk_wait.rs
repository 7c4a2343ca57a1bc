//! Threads of the target waited for a disk: files that are written through for each request, or read from where memory
//! does not hold them.
//!
//! By Little's law the threads in uninterruptible sleep at a moment, over the requests in flight, are the share of a
//! request's time for which it waits there. Such a sleep has other reasons, too, so the disk itself must have been busy,
//! or tasks of the host must have waited for it (pressure stall information).
//! Absent on purpose: which file.

use super::{Draft, Judgement, Link, Rule, Scene, Severity, Stage, missing};
use crate::words::{duration, number, percent};
use schema::finding::{Change, FindingCause};
use schema::said;

const WAIT: f64 = 0.2;
const CPU: f64 = 0.7;
/// Share of the time for which a disk had work, or some task waited for one.
const BUSY: f64 = 0.1;

pub(super) const RULE: Rule = Rule {
    cause: FindingCause::DiskWait,
    stage: Stage::Target,
    source: "Little's law on threads in uninterruptible sleep (proc(5)); iostats.rst, psi.rst",
    explains: &[FindingCause::LockContention, FindingCause::RunQueue],
    judge,
};

fn judge(scene: &Scene<'_>) -> Judgement {
    let (Some(waits), Some(inside), Some(mean)) =
        (scene.mean("target.process/disk_waits"), scene.in_flight(), scene.mean_response())
    else {
        return missing("target.process/disk_waits");
    };
    let share = (waits / inside).min(1.0);
    let cpu = scene.utilisation().unwrap_or_default();
    let of_time = |key: &str| scene.rate(key).map(|ns| (ns / 1e9).min(1.0));
    let busy = [of_time("host.disk/busy_ns"), of_time("host.pressure/io_some_ns")].into_iter().flatten();
    let Some(busy) = busy.reduce(f64::max) else {
        return missing("host.disk");
    };
    if share < WAIT || cpu >= CPU || busy < BUSY {
        return Judgement::RuledOut(said!(
            "why.disk_wait.short",
            "requests waited {wait} for a disk, {share} of the response time",
            wait = duration(share * mean),
            share = percent(share)
        ));
    }
    let text = said!(
        "why.disk_wait.found",
        "requests waited {wait} for a disk, {share} of the response time: {waits} of its threads at a time, with {inside} \
         requests in flight, while disks were busy for {busy} of the time and it used {cpu} of its CPU",
        wait = duration(share * mean),
        share = percent(share),
        waits = number(waits),
        inside = number(inside),
        busy = percent(busy),
        cpu = percent(cpu)
    );
    let remedy = said!(
        "why.disk_wait.remedy",
        "write for many requests at once (group commit, a queue), sync less often, keep what is read in memory, or give \
         it a faster disk"
    );
    Draft::new(text, Severity::High, remedy)
        .evidence(
            said!("why.disk_wait.share", "wait for a disk, of the response time"),
            percent(share),
            Some(percent(WAIT).into()),
            "target.process/disk_waits",
        )
        .evidence(
            said!("why.disk_wait.busy", "time for which disks were busy or waited for"),
            percent(busy),
            Some(percent(BUSY).into()),
            "host.disk/busy_ns",
        )
        .link(Link::Accounts(share))
        .try_this(
            Change::ByHand,
            said!("why.disk_wait.memory", "its files on a file system in memory (tmpfs)"),
            scene.better(1.3),
        )
        .found()
}
