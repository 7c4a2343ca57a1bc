//! One row for each request of a load, in a file: CSV or JSON lines.
//!
//! ```text
//! worker ──ring──▶ writer thread ──▶ FILE.tmp ──▶ FILE            in one process
//! generator process: its own rings and writer ──▶ FILE.N.tmp ──▶ FILE.tmp ──▶ FILE
//! ```
//!
//! Invariants: the load never waits for the file; a row for which a ring had no room is counted where it was lost;
//! written + dropped is the number of requests in the sample, asserted at the end; the file appears whole or not at
//! all, with the exception of what is no ordinary file. Absent on purpose: any order of the rows in time.
//! `crates/cli/tests/it/each.rs` reads what is written with the types of `schema::each`.

mod file;
mod lines;
mod writer;

use crate::GenerateError;
use engine::{Counts, Part, RowSinks, machine_ns, rows};
use file::RowFile;
use lines::{Head, Lines};
use plan::{EachPlan, LoadJob};
use schema::each::EachSummary;
use std::fs::File;
use std::io;
use std::path::PathBuf;
use std::time::{SystemTime, UNIX_EPOCH};
use writer::Writer;

/// The rows of a load in progress.
pub(crate) struct Each {
    plan: EachPlan,
    head: Head,
    sums: Sums,
    source: Source,
}

/// Where the rows of the file come from.
enum Source {
    /// From the rings of this process.
    Rings(Writer),
    /// From the files of the generator processes.
    Parts(Parts, RowFile),
}

/// What the workers counted.
#[derive(Clone, Copy, Debug, Default)]
struct Sums {
    kept: u64,
    dropped: u64,
    /// Requests that ended.
    ended: u64,
}

impl Each {
    /// Opens the file of `job`, if it wants rows; its workers of all `part` put them into the rings that come back.
    pub(crate) fn of_rings(job: &LoadJob, part: Part) -> Result<Option<(Self, RowSinks)>, GenerateError> {
        let Some(plan) = &job.each else { return Ok(None) };
        let file = RowFile::create(plan)?;
        let (sinks, sources) = rows(part, job.load.workers, job.load.seed, plan.share);
        let source =
            Source::Rings(Writer::start(plan, sources, Lines::new(plan.format, &names(job)), file, job)?);
        Ok(Some((Self::new(plan, job, source), sinks)))
    }

    /// Opens the file of `job`, if it wants rows, to which `processes` generator processes give theirs at the end.
    pub(crate) fn of_parts(job: &LoadJob) -> Result<Option<Self>, GenerateError> {
        let Some(plan) = &job.each else { return Ok(None) };
        let parts = (0..job.load.processes).map(|number| plan.part(number).file).collect();
        let source = Source::Parts(Parts(parts), RowFile::create(plan)?);
        Ok(Some(Self::new(plan, job, source)))
    }

    fn new(plan: &EachPlan, job: &LoadJob, source: Source) -> Self {
        let head = Head { origin_unix_ns: 0, share: plan.share, seed: job.load.seed };
        Self { plan: plan.clone(), head, sums: Sums::default(), source }
    }

    /// The trial's time begins at this moment of the wall clock; see [`wall_clock_of`].
    pub(crate) fn begin(&mut self, origin_unix_ns: u64) {
        self.head.origin_unix_ns = origin_unix_ns;
        if let Source::Rings(writer) = &self.source {
            writer.begin(self.head);
        }
    }

    /// Takes note of what the workers counted in an interval.
    pub(crate) fn count(&mut self, counts: &Counts) {
        self.sums.kept += counts.rows;
        self.sums.dropped += counts.rows_dropped;
        for account in [&counts.warm, &counts.measured] {
            self.sums.ended += account.completed + account.failed_total() + account.censored;
        }
    }

    /// Ends the file once all workers have ended.
    ///
    /// # Errors
    /// When the file could not be written; then there is none.
    ///
    /// # Panics
    /// If rows are lost that nobody counted: a defect of prony.
    pub(crate) fn finish(self) -> Result<EachSummary, GenerateError> {
        let Self { plan, head, sums, source } = self;
        let failed = GenerateError::io("write", &plan.file);
        let written = match source {
            Source::Rings(writer) => writer.finish().map_err(failed)?,
            Source::Parts(parts, file) => merged(&plan, head, &parts, file).map_err(failed)?,
        };
        // The parts were counted by those who wrote them, and so checked there.
        let written = written.unwrap_or(sums.kept);
        assert_eq!(written, sums.kept, "rows were lost between the workers and {}", plan.file.display());
        if plan.share >= 1.0 {
            assert_eq!(sums.kept + sums.dropped, sums.ended, "requests ended without a row");
        }
        let file = plan.file.display().to_string();
        let Head { origin_unix_ns, share, .. } = head;
        Ok(EachSummary { file, share, written, dropped: sums.dropped, origin_unix_ns })
    }
}

/// Puts the parts of all processes behind the head; each is removed as soon as it is copied.
fn merged(plan: &EachPlan, head: Head, parts: &Parts, mut file: RowFile) -> io::Result<Option<u64>> {
    let mut begin = Vec::new();
    Lines::new(plan.format, &[]).head(head, &mut begin);
    file.write(&begin)?;
    for part in &parts.0 {
        file.append(&mut File::open(part)?)?;
        std::fs::remove_file(part)?;
    }
    file.finish()?;
    Ok(None)
}

/// Files of generator processes.
struct Parts(Vec<PathBuf>);

impl Drop for Parts {
    /// Parts of a load that failed are of no use. Those that were merged are gone already.
    fn drop(&mut self) {
        for part in &self.0 {
            let _ = std::fs::remove_file(part);
        }
    }
}

fn names(job: &LoadJob) -> Vec<String> {
    job.scenario.requests.iter().map(|entry| entry.name.clone()).collect()
}

/// The wall clock at the moment `moment_ns` of [`machine_ns`], in nanoseconds since 1970-01-01 UTC.
pub(crate) fn wall_clock_of(moment_ns: u64) -> u64 {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |time| time.as_nanos());
    u64::try_from(now).unwrap_or(u64::MAX).saturating_add(moment_ns).saturating_sub(machine_ns())
}
