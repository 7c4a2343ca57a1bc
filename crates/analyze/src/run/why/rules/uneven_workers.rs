//! Of several worker processes or threads some did much more than others, and the busiest was the limit.

use super::{Draft, Judgement, Link, Rule, Scene, Severity, Stage};
use crate::words::{number, percent};
use schema::finding::FindingCause;
use schema::said;

/// Standard deviation over mean of the CPU of worker processes.
const UNEVEN: f64 = 0.5;
/// The busiest thread, percent of a core: below the first nothing is being done, from the second on it is a limit.
const WORKS: f64 = 10.0;
const BUSIEST: f64 = 50.0;
/// Share of its CPUs up to which the whole has room.
const WHOLE: f64 = 0.85;

pub(super) const RULE: Rule = Rule {
    cause: FindingCause::UnevenWorkers,
    stage: Stage::Target,
    source: "SO_REUSEPORT and accept order do not share connections out evenly (Cloudflare 2017, Why does one NGINX worker take all the load?)",
    explains: &[],
    judge,
};

fn judge(scene: &Scene<'_>) -> Judgement {
    let key = "target.process/processes_busy_cv";
    let Some(cv) = scene.mean(key) else { return Judgement::NotAsked };
    let busiest = scene.mean("target.process/busiest_thread_percent").unwrap_or_default();
    let used = scene.utilisation().unwrap_or_default();
    if cv < UNEVEN || busiest < WORKS {
        return Judgement::RuledOut(said!(
            "why.uneven_workers.cpu_workers_differs_their",
            "the CPU of its workers differs by {cv} of their mean",
            cv = percent(cv)
        ));
    }
    let text = said!(
        "why.uneven_workers.cpu_worker_processes_differs",
        "the CPU of its worker processes differs by {cv} of their mean; the busiest thread used \
         {busiest} of a core while it used {used} of its CPUs in all",
        cv = percent(cv),
        busiest = percent(busiest / 100.0),
        used = percent(used)
    );
    Draft::new(
        text,
        if used < WHOLE && busiest >= BUSIEST { Severity::High } else { Severity::Medium },
        said!(
            "why.uneven_workers.share_connections_out_evenly",
            "share connections out evenly: one acceptor that hands over, more connections than \
         workers, or EPOLLEXCLUSIVE with shared sockets"
        ),
    )
    .evidence(
        said!(
            "why.uneven_workers.coefficient_variation_over_workers",
            "coefficient of variation over workers"
        ),
        number(cv),
        Some(number(UNEVEN).into()),
        key,
    )
    .evidence(
        said!("why.uneven_workers.busiest_thread_core", "busiest thread, of a core"),
        percent(busiest / 100.0),
        Some(percent(BUSIEST / 100.0).into()),
        "target.process/busiest_thread_percent",
    )
    .link(Link::Direct(cv.min(1.0)))
    .found()
}
