//! A load whose requests a wrk script makes: loaded before, summed up while it runs, and its `done` called after.

use crate::GenerateError;
use engine::{IntervalData, Scripts, new_histogram};
use hdrhistogram::Histogram;
use plan::LoadJob;
use request::script::ScriptError;
use schema::load::{ErrorClass, LoadReport, Time};
use schema::trial::{IntervalLine, Phase};
use script::{Errors, Job, LIMIT, ScriptUrl, Summary, Wrk};
use std::collections::BTreeMap;
use units::Nanos;

pub use script::Output;

/// The lowest status that wrk counts as an error.
const STATUS_BAD: u16 = 400;

/// The states of a script, and what its `done` will be given.
pub struct Scripted {
    wrk: Wrk,
    scripts: Scripts,
    workers: u64,
    latency: Histogram<u64>,
    rates: Histogram<u64>,
}

impl Scripted {
    /// Loads the job's script, one state for each worker; nothing where the job has no script.
    ///
    /// # Errors
    /// What the script throws, with file and line; an address that it chose and that needs the user's consent.
    pub fn load(job: &LoadJob, output: Output) -> Result<Option<Self>, GenerateError> {
        let Some(plan) = job.scenario.script.clone() else { return Ok(None) };
        if job.load.processes > 1 {
            return Err(said(&plan.file, "a script runs in one process: give fewer connections").into());
        }
        let mut request =
            job.scenario.requests.first().map(|entry| entry.request.clone()).unwrap_or_default();
        let has = |name: &str| request.headers.iter().any(|(have, _)| have.eq_ignore_ascii_case(name));
        if let Some(login) = job.login.as_ref().filter(|_| !has("authorization")) {
            request.headers.push(("Authorization".to_owned(), login.basic()));
        }
        let url = url(job, &request.path);
        let mut wrk = Wrk::load(&Job {
            file: &plan.file,
            text: &plan.text,
            args: &plan.args,
            url: &url,
            threads: job.load.workers as usize,
            headers: &request.headers,
            output,
            limit: LIMIT,
        })?;
        let threads = wrk.take_threads();
        for to in threads.iter().filter_map(|thread| thread.address()) {
            if to.ip() != job.to.ip() && !plan::net::is_free(to.ip()) {
                let cause = format!(
                    "thread.addr is {to}, a public address that is not the URL's; load it by its own URL"
                );
                return Err(said(&plan.file, &cause).into());
            }
        }
        let scripts = Scripts::new(threads);
        let workers = u64::from(job.load.workers);
        Ok(Some(Self { wrk, scripts, workers, latency: new_histogram(), rates: new_histogram() }))
    }

    /// The workers' part.
    #[must_use]
    pub const fn workers(&self) -> &Scripts {
        &self.scripts
    }

    /// An interval of the samples or of the drain after them has ended. The drain has no rate: nothing is sent in it.
    pub fn interval(&mut self, line: &IntervalLine, data: &IntervalData) {
        // wrk times every complete answer, whatever its status.
        for times in [&data.times[Time::Service], &*data.wrong] {
            self.latency.add(times).expect("all time histograms have the same bounds");
        }
        let length_ns = data.counts.end_ns.saturating_sub(data.counts.start_ns);
        let answers = answers(&line.status);
        if line.phase == Some(Phase::Sample) && length_ns > 0 && answers > 0 {
            let per_s = answers as f64 * 1e9 / length_ns as f64 / self.workers as f64;
            self.rates.saturating_record(per_s as u64);
        }
    }

    /// The load has ended: calls `done`, which usually prints.
    ///
    /// # Errors
    /// What the script throws.
    pub fn done(&mut self, report: &LoadReport) -> Result<(), GenerateError> {
        let summary = summary(report);
        Ok(self.wrk.done(&summary, &self.latency, &self.rates)?)
    }
}

/// Every complete answer, whatever its status.
fn answers(status: &BTreeMap<u16, u64>) -> u64 {
    status.values().sum()
}

/// The totals as wrk counts them: an answer is a request that was made, whether its status is right or not
/// (`response_complete` in wrk.c), and only the status decides on `errors.status`.
fn summary(report: &LoadReport) -> Summary {
    let count = |classes: &[ErrorClass]| classes.iter().filter_map(|class| report.errors.get(class)).sum();
    Summary {
        duration: Nanos(report.window.duration_ns),
        requests: answers(&report.status),
        bytes: report.bytes.read,
        errors: Errors {
            connect: count(&[
                ErrorClass::Refused,
                ErrorClass::ConnectTimeout,
                ErrorClass::Unreachable,
                ErrorClass::AddressNotAvailable,
                ErrorClass::DescriptorLimit,
                ErrorClass::NameResolution,
                ErrorClass::Proxy,
                ErrorClass::Tls,
            ]),
            read: count(&[ErrorClass::Reset, ErrorClass::PrematureClose, ErrorClass::Malformed]),
            write: count(&[ErrorClass::Io, ErrorClass::Script]),
            status: report.status.range(STATUS_BAD..).map(|(_, count)| count).sum(),
            timeout: count(&[ErrorClass::Timeout]),
        },
    }
}

/// The URL in the parts that a script sees; a port only where the Host field has one, too.
fn url(job: &LoadJob, path: &str) -> ScriptUrl {
    let (scheme, rest) = job.url.split_once("://").unwrap_or(("http", &job.url));
    let (host, port) = match job.authority.rsplit_once(':') {
        Some((host, port)) if !port.ends_with(']') => (host, port.parse().ok()),
        _ => (job.authority.as_str(), None),
    };
    ScriptUrl {
        text: format!("{scheme}://{rest}{path}"),
        scheme: scheme.to_owned(),
        host: host.trim_matches(['[', ']']).to_owned(),
        port,
        path: path.to_owned(),
    }
}

fn said(file: &str, message: &str) -> ScriptError {
    ScriptError { file: file.to_owned(), line: None, message: message.to_owned() }
}
