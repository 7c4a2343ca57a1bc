//! What is in a log, in one pass and bounded memory: mix, sizes, arrivals, sessions, concurrency, gaps, dispersion.
//!
//! Invariants: memory has limits whatever the log (seconds of [`SECONDS_MAX`], minutes of ten years, tenths of a second
//! of three days, 1000 routes, 200,000 clients); what a limit leaves out is counted and reported in [`Model::notes`];
//! the same lines give the same model.
//! Absent on purpose: reading (module `log`) and any decision on what to send (modules `verdict` and `write`).

pub(crate) mod bins;
mod gaps;
mod route;
mod sessions;
mod shape;
pub(crate) mod sketch;

pub(crate) use gaps::{COARSE, FINE, SEARCHED, ranked};
pub use gaps::{FamilyFit, GapData, Gaps};
pub use sessions::Sessions;
pub use shape::{STRETCHES_MAX, Stretch};

use crate::TrafficError;
use crate::log::time::SECOND_NS;
use crate::log::{Format, ReadReport, Record, in_order, read};
use bins::{Bins, dispersion, sums};
use gaps::{Arrivals, GapSampler};
use serde::Serialize;
use sessions::Follower;
use sketch::{Entry, Sketch, add_to};
use std::path::PathBuf;
use units::Seed;

/// Format name and version of the model as JSON.
pub const MODEL_VERSION: &str = "prony.model/1";
/// Seconds that are counted singly: 31 days, 11 MB.
pub const SECONDS_MAX: u64 = 31 * 86_400;
/// Minutes that are counted: ten years, 21 MB.
const MINUTES_MAX: u64 = 3653 * 1440;
/// Tenths of a second that are counted: three days, 10 MB.
const TENTHS_MAX: u64 = 3 * 864_000;
/// Routes that are reported and sent singly.
pub const ROUTES_MAX: usize = 200;

/// A route of the mix.
#[derive(Clone, Debug, Serialize)]
pub struct Route {
    /// Upper-case letters.
    pub method: String,
    /// With placeholders, without query.
    pub path: String,
    /// Requests.
    pub count: u64,
    /// Of all requests, 0 to 1.
    pub share: f64,
    /// Status codes and how often, the most frequent first.
    pub status: Vec<(u16, u64)>,
    /// Mean size of answers, where it is logged.
    pub bytes_mean: Option<f64>,
    /// Mean time taken, where it is logged.
    pub request_mean_ns: Option<f64>,
    /// Real targets of the route, a uniform sample.
    #[serde(skip)]
    pub targets: Vec<Box<[u8]>>,
}

/// Index of dispersion of counts at a scale.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Dispersion {
    /// Length of a window.
    pub scale_ns: u64,
    /// Whole windows in the log.
    pub windows: u64,
    /// Variance over mean of their counts.
    pub index: Option<f64>,
    /// Why there is none.
    pub refusal: Option<String>,
}

/// What is in a log.
#[derive(Clone, Debug, Serialize)]
pub struct Model {
    /// [`MODEL_VERSION`].
    pub schema: &'static str,
    /// The files, in the order of their first requests.
    pub files: Vec<ReadReport>,
    /// Requests.
    pub requests: u64,
    /// Begin of the first second with a request, since 1970.
    pub begin_ns: u64,
    /// From there to the end of the last second with one.
    pub span_s: u64,
    /// Tick of the log's clock: 1 s, 1 ms, 1 µs or 1 ns.
    pub resolution_ns: u64,
    /// The most frequent routes.
    pub routes: Vec<Route>,
    /// Requests of all others.
    pub other: u64,
    /// Status codes of all requests by class, 1xx to 5xx and beyond.
    pub status_classes: [u64; 6],
    /// Mean size of answers, where it is logged.
    pub bytes_mean: Option<f64>,
    /// Requests in each minute since the begin; the last minute may be cut by the end of the log. Not in JSON.
    #[serde(skip)]
    pub minutes: Vec<u64>,
    /// The rate over time.
    pub stretches: Vec<Stretch>,
    /// At 0.1, 1, 10 and 100 s.
    pub dispersion: Vec<Dispersion>,
    /// For pauses of 10, 30 and 60 minutes; 30 is the one to use.
    pub sessions: Vec<Sessions>,
    /// Mean time taken, where it is logged.
    pub request_mean_ns: Option<f64>,
    /// Requests in the server at the same time, on average: rate times mean time (Little, Oper. Res. 9, 1961).
    pub concurrency: Option<f64>,
    /// Laws of the gaps between arrivals.
    pub gaps: Gaps,
    /// Limits and doubts, in sentences.
    pub notes: Vec<String>,
    /// Routes beyond the most frequent ones, for samples.
    #[serde(skip)]
    pub(crate) rest: Vec<Route>,
    #[serde(skip)]
    pub(crate) seconds: Bins,
    #[serde(skip)]
    pub(crate) tenths: Bins,
}

impl Model {
    /// Requests per second over the whole log.
    #[must_use]
    pub fn rate_per_s(&self) -> f64 {
        self.requests as f64 / (self.span_s as f64).max(1.0)
    }

    fn arrivals(&self) -> Arrivals<'_> {
        Arrivals {
            begin_ns: self.begin_ns,
            resolution_ns: self.resolution_ns,
            rate_per_s: self.rate_per_s(),
            stretches: &self.stretches,
            seconds: &self.seconds,
        }
    }
}

/// Reads logs, in the order of their first requests, and sums them up.
///
/// # Errors
/// As [`read`], and where there are fewer than two requests, or all in one second.
pub fn model(paths: &[PathBuf], format: Option<Format>, seed: Seed) -> Result<Model, TrafficError> {
    let mut builder = Builder::new(seed);
    let mut files = Vec::with_capacity(paths.len());
    for path in in_order(paths, format)? {
        files.push(read(&path, format, |record| builder.add(record))?);
    }
    builder.finish(files)
}

/// Sums up records one by one.
#[derive(Debug)]
pub struct Builder {
    requests: u64,
    seconds: Bins,
    minutes: Bins,
    tenths: Bins,
    /// The finest part of any time, as 0 (whole seconds) to 3 (nanoseconds).
    fineness: usize,
    sketch: Sketch,
    sessions: Follower,
    gaps: GapSampler,
    status_classes: [u64; 6],
    bytes: (u64, u64),
    request_ns: (u64, u64),
    seed: Seed,
}

/// Ticks of clocks, coarsest first.
const TICKS_NS: [u64; 4] = [SECOND_NS, 1_000_000, 1_000, 1];

impl Builder {
    /// Nothing so far. The seed decides which gaps and targets are kept as samples.
    #[must_use]
    pub fn new(seed: Seed) -> Self {
        Self {
            requests: 0,
            seconds: Bins::new(SECOND_NS, SECONDS_MAX),
            minutes: Bins::new(60 * SECOND_NS, MINUTES_MAX),
            tenths: Bins::new(SECOND_NS / 10, TENTHS_MAX),
            fineness: 0,
            sketch: Sketch::new(seed),
            sessions: Follower::new(),
            gaps: GapSampler::new(seed),
            status_classes: [0; 6],
            bytes: (0, 0),
            request_ns: (0, 0),
            seed,
        }
    }

    /// Adds a request.
    pub fn add(&mut self, record: &Record<'_>) {
        self.requests += 1;
        self.seconds.add(record.time_ns);
        self.minutes.add(record.time_ns);
        while self.fineness < 3 && !record.time_ns.is_multiple_of(TICKS_NS[self.fineness]) {
            self.fineness += 1;
        }
        if self.fineness > 0 {
            self.tenths.add(record.time_ns);
        }
        self.sketch.add(record);
        self.sessions.add(record);
        self.gaps.add(record.time_ns);
        if record.status > 0 {
            self.status_classes[usize::from(record.status / 100).clamp(1, 6) - 1] += 1;
        }
        add_to(&mut self.bytes, record.bytes);
        add_to(&mut self.request_ns, record.request_ns);
    }

    /// The model of all that was added; `files` is what the reading said.
    ///
    /// # Errors
    /// Fewer than two requests, or all in one second.
    pub fn finish(self, files: Vec<ReadReport>) -> Result<Model, TrafficError> {
        let (begin_ns, span_s, minutes) = self.span()?;
        let notes = self.notes();
        let resolution_ns = TICKS_NS[self.fineness];
        let stretches = shape::stretches(&minutes, 60, span_s);
        let dispersion = self.dispersion();
        let routes = self.sketch.into_entries();
        let mut routes = routes.into_iter().map(|entry| route_of(entry, self.requests));
        let top: Vec<Route> = routes.by_ref().take(ROUTES_MAX).collect();
        let request_mean_ns = mean(self.request_ns);
        let rate_per_s = self.requests as f64 / span_s as f64;
        let mut model = Model {
            schema: MODEL_VERSION,
            files,
            requests: self.requests,
            begin_ns,
            span_s,
            resolution_ns,
            other: self.requests - top.iter().map(|route| route.count).sum::<u64>(),
            routes: top,
            status_classes: self.status_classes,
            bytes_mean: mean(self.bytes),
            minutes,
            stretches,
            dispersion,
            sessions: self.sessions.finish(),
            request_mean_ns,
            concurrency: request_mean_ns.map(|mean_ns| rate_per_s * mean_ns / 1e9),
            gaps: Gaps { data: GapData::Exact, n: 0, families: Vec::new() },
            notes,
            rest: routes.collect(),
            seconds: self.seconds,
            tenths: self.tenths,
        };
        model.gaps = gaps::fitted(model.arrivals(), &self.gaps.into_kept(), self.seed);
        Ok(model)
    }

    /// Begin, length and the counts of each minute from there.
    fn span(&self) -> Result<(u64, u64, Vec<u64>), TrafficError> {
        let bins = if self.seconds.outside() == 0 { &self.seconds } else { &self.minutes };
        let (begin_ns, counts) = bins.used();
        if self.requests < 2 || counts.len() < 2 {
            return Err(TrafficError::TooLittle {
                cause: format!("the log holds {} requests, all in one moment", self.requests),
                remedy: "give a log of at least some seconds; a few minutes make a model",
            });
        }
        let in_bin_s = bins.width_ns() / SECOND_NS;
        let each = (60 / in_bin_s) as usize;
        let minutes =
            counts.chunks(each).map(|chunk| chunk.iter().map(|count| u64::from(*count)).sum()).collect();
        Ok((begin_ns, counts.len() as u64 * in_bin_s, minutes))
    }

    fn notes(&self) -> Vec<String> {
        let mut notes = Vec::new();
        if self.seconds.outside() > 0 {
            notes.push(format!(
                "the log is longer than {} days: {} requests beyond are counted by the minute only",
                SECONDS_MAX / 86_400,
                self.seconds.outside()
            ));
        }
        if self.minutes.outside() > 0 {
            notes.push(format!(
                "{} requests lie more than ten years from the others and are in no minute; look for wrong dates",
                self.minutes.outside()
            ));
        }
        if self.gaps.late() > 0 {
            notes.push(format!(
                "{} of {} lines are earlier than the line before them; their gaps are left out",
                self.gaps.late(),
                self.requests
            ));
        }
        if self.request_ns.1 > 0 {
            notes.push(
                "nginx and Caddy log a request when it ends: the times are those of the log, not less the time taken"
                    .to_owned(),
            );
        }
        notes
    }

    fn dispersion(&self) -> Vec<Dispersion> {
        let of = |bins: &Bins, each: usize| {
            let (windows, index) = dispersion(sums(bins.used().1, each));
            let refusal = index.is_none().then(|| format!("{windows} whole windows are too few"));
            Dispersion { scale_ns: bins.width_ns() * each as u64, windows, index, refusal }
        };
        let tenth = match (self.fineness, self.tenths.outside()) {
            (0, _) => Err("the log's times are whole seconds".to_owned()),
            (_, 0) => Ok(of(&self.tenths, 1)),
            _ => Err("the log is longer than three days".to_owned()),
        };
        let refused =
            |why| Dispersion { scale_ns: SECOND_NS / 10, windows: 0, index: None, refusal: Some(why) };
        let coarser = [1, 10, 100].map(|each| of(&self.seconds, each));
        [tenth.unwrap_or_else(refused)].into_iter().chain(coarser).collect()
    }
}

fn mean((sum, count): (u64, u64)) -> Option<f64> {
    (count > 0).then(|| sum as f64 / count as f64)
}

fn route_of(entry: Entry, requests: u64) -> Route {
    let count = entry.certain();
    let mut status = entry.codes;
    status.sort_by(|a, b| b.1.cmp(&a.1).then(a.0.cmp(&b.0)));
    Route {
        count,
        share: count as f64 / requests as f64,
        method: entry.method,
        path: entry.route,
        status,
        bytes_mean: mean(entry.bytes),
        request_mean_ns: mean(entry.request_ns),
        targets: entry.targets,
    }
}
