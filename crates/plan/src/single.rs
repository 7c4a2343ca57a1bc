//! One load of one URL, as `prony load` makes it: settings as `[load]` has them, and what only a single load has.

use crate::defaults;
use crate::each::EachPlan;
use crate::error::PlanError;
use crate::job::{LoadJob, NameLookup};
use crate::load::arrival::{self, Wishes};
use crate::load::settings::{self, Ground, Level, LoadLevels, default_workers};
use crate::load::{counted, http, intervals, trace};
use crate::place::login::Login;
use crate::place::net::HttpUrl;
use crate::place::tls;
use crate::place::way::{self, Wanted};
use crate::wrong::Wrong;
use launch::pin;
use schema::arrival::Arrivals;
use schema::experiment::{Load, LoadModel, Resolve};
use schema::plan::{LoadPlan, PhasePlan, PinPlan, ScenarioPlan, TlsPlan};
use schema::text::{Problem, cause_and_remedy};
use schema::tls::TlsUse;
use std::net::SocketAddr;
use std::path::Path;
use units::{Count, Nanos, PerSecond};
use wire::{Framing as _, Http1, Http2};

/// What is asked for. Keys of problems are those of the fields, and `load.…` for the settings of `[load]`.
#[derive(Debug)]
pub struct Single<'a> {
    /// Where to.
    pub url: &'a HttpUrl,
    /// User and password of the URL.
    pub login: Option<Login>,
    /// What is sent.
    pub scenario: ScenarioPlan,
    /// How it is sent.
    pub load: &'a Load,
    /// TLS of an https URL; relative files are of the present folder.
    pub tls: &'a TlsUse,
    /// Where connections go instead of the URL's host.
    pub connect_to: Option<&'a str>,
    /// A proxy, or `none`; else that of the environment.
    pub proxy: Option<&'a str>,
    /// Hosts and addresses that the user consents to.
    pub consent: &'a [String],
    /// CPUs of the generator, as a list such as `0-3`.
    pub pin: Option<&'a str>,
    /// Generator processes.
    pub processes: Option<u32>,
    /// Seed of every random decision.
    pub seed: u64,
    /// Load before the measured window.
    pub warmup: Nanos,
    /// Length of the measured window.
    pub duration: Option<Nanos>,
    /// Measured requests.
    pub requests: Option<Count>,
    /// One row for each request.
    pub each: Option<EachPlan>,
}

/// What a server is asked before the load is resolved.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Question {
    /// What its calls of gRPC take, over HTTP/2.
    Calls,
    /// Which version of HTTP it chooses, in the TLS handshake.
    Version,
}

impl Question {
    /// The key that it answers, and what to do where it cannot be asked.
    const fn key_and_remedy(self) -> (&'static str, &'static str) {
        match self {
            Self::Calls => ("request.grpc.proto", "leave the proxy out"),
            Self::Version => ("load.connection.http", "name the version, 1.1 or 2"),
        }
    }

    /// What its connection offers by ALPN; what the user wants to be offered is the user's for a version only.
    fn offers(self, wanted: Option<&[String]>) -> Vec<String> {
        match (self, wanted) {
            (Self::Calls, _) => vec![Http2::ALPN.to_owned()],
            (Self::Version, Some(wanted)) => wanted.to_vec(),
            (Self::Version, None) => [Http2::ALPN, Http1::ALPN].map(str::to_owned).to_vec(),
        }
    }
}

/// Where a server is asked before the load is resolved.
#[derive(Clone, Debug)]
pub struct Reach {
    /// Its address.
    pub to: SocketAddr,
    /// Its name, as requests say it.
    pub authority: String,
    /// TLS of an https URL.
    pub tls: Option<TlsPlan>,
}

/// Where the server of a load is asked, under the same consent as the load.
///
/// # Errors
/// An address without consent, a name that does not resolve, wrong options of TLS, and ways on which servers are not asked.
pub fn reach(
    question: Question,
    url: &HttpUrl,
    load: &Load,
    tls: &TlsUse,
    (connect_to, proxy): (Option<&str>, Option<&str>),
    consent: &[String],
    variable: impl Fn(&str) -> Option<String>,
) -> Result<Reach, Wrong> {
    let wanted = Wanted { url, connect_to, proxy, consent, connection: &load.connection };
    let way = wanted.way(variable)?;
    if way.proxy.is_some() || load.connection.unix_socket.is_some() {
        let (key, remedy) = question.key_and_remedy();
        let cause = "the server would be asked first, and it is behind a proxy or a Unix socket";
        return Err(Problem::at(key, cause, remedy).into());
    }
    let alpn = question.offers(tls.alpn.as_deref());
    let tls = tls::of_url(Some(tls), url, Path::new("")).map_err(PlanError::from)?;
    let tls = tls.map(|tls| TlsPlan { alpn, ..tls });
    Ok(Reach { to: way.to, authority: url.authority(), tls })
}

/// Resolves a single load on a host with these usable CPUs; `variable` reads the environment.
///
/// # Errors
/// Every mistake in what is asked for, before a connection is opened. What only the generator can say of files of TLS and
/// of scripts, it says.
pub fn single(
    asked: Single<'_>,
    usable: &[u32],
    variable: impl Fn(&str) -> Option<String>,
) -> Result<LoadJob, Wrong> {
    let load = http::of_calls(asked.load, &asked.scenario)?;
    trace::check(&load, &asked.scenario)?;
    let mut asked = Single { load: &load, ..asked };
    let wanted = Wanted {
        url: asked.url,
        connect_to: asked.connect_to,
        proxy: asked.proxy,
        consent: asked.consent,
        connection: &asked.load.connection,
    };
    let way = wanted.way(variable)?;
    let further = wanted.further(&mut asked.scenario, &way)?;
    let cpus = cpus(asked.pin, usable)?;
    let workers_default =
        default_workers(&PinPlan { generator: cpus.clone(), ..PinPlan::default() }, usable.len());
    let origins = 1 + further.len() as u32;
    let Timed { mut load, phases, arrivals_max } = timed(&asked, workers_default, origins)?;
    way::check_sources(&load.connection.sources, way.to)?;
    load.tls = tls::of_url(Some(asked.tls), asked.url, Path::new("")).map_err(PlanError::from)?;
    http::agree(&mut load, asked.tls.alpn.as_deref())?;
    let looks_up = asked.load.connection.resolve == Some(Resolve::Each);
    let job = LoadJob {
        url: asked.url.origin(),
        authority: asked.url.authority(),
        to: way.to,
        further,
        proxy: way.proxy,
        scenario: asked.scenario,
        login: asked.login,
        bodies: Vec::new(),
        load,
        phases,
        name: looks_up.then(|| NameLookup { url: way.named, consent: asked.consent.to_vec() }),
        requests_max: asked.requests.map(|requests| requests.0),
        arrivals_max,
        cpus,
        // On the only CPU, spinning would take it away from a local target.
        spin: pin::leaves_a_cpu(usable),
        network: None,
        each: asked.each,
    };
    let job = job.settled();
    // The one compiler says what cannot be sent.
    job.traffic().map_err(PlanError::from)?;
    Ok(job)
}

/// How the load is made, and when it is measured.
struct Timed {
    load: LoadPlan,
    phases: PhasePlan,
    /// Arrivals up to the last of the requests that end an open load.
    arrivals_max: Option<u64>,
}

fn timed(asked: &Single<'_>, workers_default: u32, origins: u32) -> Result<Timed, Wrong> {
    let mut phases = phases(asked)?;
    let level = level(asked)?;
    let plan = |phases: &PhasePlan| {
        let ground = Ground {
            folder: Path::new("."),
            phases,
            seed: asked.seed,
            workers_default,
            processes: asked.processes,
            origins,
            growth: Some(defaults::GROWTH),
        };
        settings::plan(asked.load, level, &ground)
    };
    let load = plan(&phases)?;
    let (LoadModel::Open, Some(Count(requests))) = (load.model, asked.requests) else {
        return Ok(Timed { load, phases, arrivals_max: None });
    };
    let end = counted::end(&load, &phases, requests, asked.duration)?;
    phases.sample_ns = end.sample_ns;
    // A shape begins with the window, whose begin lies on the grid of intervals.
    Ok(Timed { load: plan(&phases)?, phases, arrivals_max: end.arrivals_max })
}

/// The one level of the load. A budget of fewer requests than the usual connections needs no more of them.
fn level(asked: &Single<'_>) -> Result<Level, Problem> {
    if asked.requests == Some(Count(0)) {
        return Err(Problem::at("requests", "0 would send nothing", "give at least 1"));
    }
    if asked.requests.is_some() && matches!(asked.load.arrivals, Some(Arrivals::Recorded { .. })) {
        let cause = "a number of requests does not end recorded arrivals";
        return Err(Problem::at("requests", cause, "give a duration instead"));
    }
    let default =
        asked.requests.map_or(defaults::CONNECTIONS, |requests| requests.0.min(defaults::CONNECTIONS));
    let levels = LoadLevels::of(asked.load, &asked.scenario, default)?;
    let mut all = levels.all();
    match (all.next(), all.next()) {
        (Some(level), None) => Ok(level),
        _ => Err(Problem::at("load", "a single load has one level", "give one number, not a list")),
    }
}

fn phases(asked: &Single<'_>) -> Result<PhasePlan, Problem> {
    let duration = match (asked.duration, asked.requests) {
        // Of an open load the schedule says when its last request comes.
        (None, Some(requests)) if asked.load.model == LoadModel::Open => {
            counted::guess(requests.0, rate(asked.load))
        }
        (None, Some(_)) => Nanos(u64::MAX),
        (None, None) => defaults::DURATION,
        (Some(duration), _) if duration < Nanos::MILLI => {
            return Err(Problem::at("duration", format!("{duration} is too short"), "give at least 1ms"));
        }
        (Some(duration), _) => duration,
    };
    Ok(intervals::once(asked.warmup, duration))
}

fn rate(load: &Load) -> Option<PerSecond> {
    load.rate.as_ref().and_then(|rates| rates.levels().first().copied())
}

/// The CPUs that the generator is confined to.
fn cpus(list: Option<&str>, usable: &[u32]) -> Result<Option<Vec<u32>>, Problem> {
    let Some(list) = list else { return Ok(None) };
    let wrong = |error: pin::PinError| {
        let text = error.to_string();
        let (cause, remedy) = cause_and_remedy(&text);
        Problem::at("pin", cause, remedy.unwrap_or("write for example 0 or 0-3"))
    };
    let cpus = pin::parse_list(list).map_err(wrong)?;
    match cpus.iter().find(|cpu| !usable.is_empty() && !usable.contains(cpu)) {
        None => Ok(Some(cpus)),
        Some(cpu) => {
            let cause = format!("CPU {cpu} cannot be used here");
            Err(Problem::at("pin", cause, format!("usable are {}", pin::list(usable))))
        }
    }
}

/// The part of a load's plan that says when requests are sent, as `prony shape` draws it; files of recorded times are
/// relative to the present folder.
///
/// # Errors
/// A closed load, and what is wrong with its rate, its law or its shape.
pub fn schedule(load: &Load, phases: &PhasePlan, seed: u64) -> Result<LoadPlan, Wrong> {
    let levels = LoadLevels::of(load, &ScenarioPlan::default(), defaults::CONNECTIONS)?;
    let rate = levels.all().next().and_then(|level| level.rate);
    let rest = LoadPlan { model: load.model, seed, ..LoadPlan::default() };
    Ok(arrival::resolve(Wishes::of(load, rate), phases, Path::new("."))?.into_plan(rest))
}
