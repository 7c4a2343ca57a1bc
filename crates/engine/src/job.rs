//! What a generator is to make: one load, or its part of one.

use crate::control::Timeline;
use crate::error::EngineError;
use crate::names::Lookup;
use crate::part::Part;
use crate::rows::RowSinks;
use crate::tls::Tls;
use crate::way::Way;
use request::Traffic;
use request::script::Script;
use schema::experiment::LoadModel;
use schema::plan::{ConnectionPlan, HttpVersion, LoadPlan};
use std::fmt;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, PoisonError};

/// One load, ready to be made.
#[derive(Clone, Debug)]
pub struct Job {
    /// How load is made.
    pub load: LoadPlan,
    /// Closed model: end after this many requests in total. Open model: no arrivals after so many, those of warm-up
    /// included; the timeline ends the load.
    pub requests_max: Option<u64>,
    /// Recorded arrivals: their times in nanoseconds, in order.
    pub recorded: Option<Arc<[u64]>>,
    /// Where to.
    pub to: SocketAddr,
    /// What is known of the way there beyond the address.
    pub way: Way,
    /// Asked again for every connection where present.
    pub lookup: Option<Lookup>,
    /// TLS of every connection; plain text where absent.
    pub tls: Option<Tls>,
    /// What is sent, and how answers are judged.
    pub traffic: Traffic,
    /// Scripts that make the requests instead, one for each worker of this part.
    pub scripts: Option<Scripts>,
    /// Where one row for each request goes, from [`crate::rows()`] for this part.
    pub rows: Option<RowSinks>,
    /// The grid of phases.
    pub timeline: Timeline,
    /// CPUs for the workers, one each in turn; `None` leaves them to the system.
    pub cpus: Option<Vec<u32>>,
    /// Whether workers may spin before an intended time where the plan leaves it open (`auto`): not where they share
    /// a CPU with the target.
    pub spin: bool,
    /// Which of the load's workers this generator makes.
    pub part: Part,
}

/// One script for each worker, handed out in turn.
#[derive(Clone)]
pub struct Scripts(Arc<Mutex<Vec<Box<dyn Script>>>>);

impl Scripts {
    /// Scripts in the order of the workers.
    #[must_use]
    pub fn new(mut scripts: Vec<Box<dyn Script>>) -> Self {
        scripts.reverse();
        Self(Arc::new(Mutex::new(scripts)))
    }

    pub(crate) fn take(&self) -> Result<Box<dyn Script>, EngineError> {
        let mut scripts = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        scripts.pop().ok_or(EngineError::Plan("there are fewer scripts than workers"))
    }
}

impl fmt::Debug for Scripts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Scripts")
    }
}

impl Job {
    /// # Errors
    /// Where the job contradicts itself.
    pub(crate) fn check(&self) -> Result<(), EngineError> {
        let load = &self.load;
        let part = self.part;
        if part.workers == 0 || part.first.saturating_add(part.workers) > load.workers {
            return Err(EngineError::Plan("a part of the workers that the load does not have"));
        }
        if load.workers == 0 || load.connections < load.workers {
            return Err(EngineError::Plan(
                "each worker needs at least one connection: give more connections or fewer workers",
            ));
        }
        if load.connection.follow.is_some() && self.way.origin.is_none() {
            return Err(EngineError::Plan("redirects are followed within an origin; name it"));
        }
        let ConnectionPlan { http, pipeline, streams, .. } = load.connection;
        if http == HttpVersion::V2 && (pipeline > 1 || streams == 0) {
            return Err(EngineError::Plan("HTTP/2 has at least one stream, and no pipelines"));
        }
        if self.timeline.interval_ns == 0 {
            return Err(EngineError::Plan("a sample must last longer than zero"));
        }
        if load.model == LoadModel::Open && load.rate_per_s.is_none() {
            return Err(EngineError::Plan("an open load needs a rate"));
        }
        Ok(())
    }
}
