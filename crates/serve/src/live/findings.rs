//! Findings of a run in progress, and what its agents did: the analysis of what has ended, made again when trials have
//! ended since.
//!
//! Invariants: it is made on a thread of the lowest priority, one at a time, and rests twenty times as long as it took:
//! at most a twentieth of one CPU, however long the run.

use record::REST;
use record::RunFolder;
use schema::agents::FleetSummary;
use schema::analysis::Finding;
use std::path::Path;
use std::time::{Duration, Instant};
use tokio::sync::oneshot;

const NICE_LOWEST: i32 = 19;

/// What an analysis found.
#[derive(Default)]
pub(crate) struct Found {
    pub(crate) findings: Vec<Finding>,
    pub(crate) fleet: Option<FleetSummary>,
}

#[derive(Default)]
pub(crate) struct Findings {
    /// Whether trials have ended that were not analysed.
    is_due: bool,
    rests_until: Option<Instant>,
    under_way: Option<oneshot::Receiver<(Found, Duration)>>,
}

impl Findings {
    /// Begins an analysis where one is due; gives the findings of one that is done.
    pub(crate) async fn look(&mut self, run: &Path, has_news: bool) -> Option<Found> {
        self.is_due |= has_news;
        if let Some(under_way) = &mut self.under_way {
            let done = match under_way.try_recv() {
                Err(oneshot::error::TryRecvError::Empty) => return None,
                done => done.ok(),
            };
            self.under_way = None;
            let (found, took) = done?;
            self.rests_until = Some(Instant::now() + took * REST);
            return Some(found);
        }
        if self.is_due && self.rests_until.is_none_or(|until| Instant::now() >= until) {
            self.is_due = false;
            self.under_way = begin(run);
        }
        None
    }
}

fn begin(run: &Path) -> Option<oneshot::Receiver<(Found, Duration)>> {
    let (send, receive) = oneshot::channel();
    let run = run.to_owned();
    let analyse = move || {
        // Refused or not: the whole server has a low priority already.
        let _ = rustix::process::setpriority_process(None, NICE_LOWEST);
        let begun = Instant::now();
        let analysed = RunFolder::open(&run).and_then(|folder| record::analysed(&folder));
        // A run that cannot be analysed yet has no findings yet.
        let found = analysed
            .map(|(_, analysis)| Found { findings: analysis.findings, fleet: analysis.fleet })
            .unwrap_or_default();
        let _ = send.send((found, begun.elapsed()));
    };
    std::thread::Builder::new().name("findings".to_owned()).spawn(analyse).ok()?;
    Some(receive)
}
