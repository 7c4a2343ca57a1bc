//! From the arguments of `prony load` to a job: every default filled in, every mistake told, nothing sent.

use super::counted;
use crate::args::{LoadArgs, RequestArgs};
use anyhow::{Context as _, Result, anyhow, bail};
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, percent_encode};
use plan::arrival::{Wishes, flags};
use plan::net::HttpUrl;
use plan::origins::Further;
use plan::processes::{Spread, Wanted, connections_per_process, raise_descriptor_limit, spread};
use plan::proxy::{self, ProxyUse};
use plan::{
    CONNECTIONS_MAX, Users, chunk_bytes, connection, deadline, default_workers, defaults, growth,
    load_scenario_file, users,
};
use plan::{EachPlan, PlanError};
use plan::{LoadJob, NameLookup};
use runner::RunnerError;
use schema::arrival::Arrivals;
use schema::experiment::{LoadModel, Resolve};
use schema::plan::{
    BodyExpectation, ExpectPlan, LoadPlan, PhasePlan, PinPlan, RequestPlan, ScenarioPlan, ScriptPlan, TlsPlan,
};
use schema::text::Problem;
use std::io::Read;
use std::net::{IpAddr, Ipv4Addr, SocketAddr, UdpSocket};
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;
use units::{Count, Nanos};

/// What is escaped in the name of an uploaded file: all but the unreserved characters of RFC 3986 §2.3.
const IN_PATH: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~');
/// Arguments to a job.
pub(super) fn resolve(args: &LoadArgs) -> Result<LoadJob> {
    let (url, login) = HttpUrl::with_login(&args.url).map_err(RunnerError::from)?;
    let proxy = proxy(args, &url)?;
    let to = match &proxy {
        Some(proxy) => proxied(args, &url, proxy)?,
        None => address(args, &url)?,
    };
    let mut scenario = scenario(&args.request, &url)?;
    let further = further(args, &mut scenario, &url, proxy.is_some())?;
    let cpus = args.pin.as_deref().map(launch::pin::parse_list).transpose()?;
    let usable = launch::pin::usable_cpus()?;
    if let (Some(cpus), false) = (&cpus, usable.is_empty())
        && let Some(cpu) = cpus.iter().find(|cpu| !usable.contains(cpu))
    {
        bail!("CPU {cpu} cannot be used here; usable are {}", launch::pin::list(&usable));
    }
    let mut phases = phases(args)?;
    let model = args.pacing.model(args.rate);
    let users = users("--users", args.users, model, args.connections.is_some(), &scenario).map_err(said)?;
    let connections = match users {
        Users::OwnConnections(count) => Some(Count(count)),
        _ => args.connections,
    };
    let mut load = load_plan(args, connections, &phases, cpus.clone(), usable.len(), 1 + further.len())?;
    let mut arrivals_max = None;
    if let (LoadModel::Open, Some(Count(requests))) = (model, args.requests) {
        let end = counted::end(&load, &phases, requests, args.duration)?;
        phases.sample_ns = end.sample_ns;
        arrivals_max = end.arrivals_max;
        // A shape begins with the window, whose begin lies on the grid of intervals.
        load = load_plan(args, connections, &phases, cpus.clone(), usable.len(), 1 + further.len())?;
    }
    load.users = users.sharing();
    check_sources(&load.connection.sources, to)?;
    load.tls = tls_plan(args, &url)?;
    let job = LoadJob {
        url: url.origin(),
        authority: url.authority(),
        to,
        further,
        proxy,
        scenario,
        login,
        bodies: Vec::new(),
        load,
        phases,
        name: (args.connection.resolve == Some(Resolve::Each))
            .then(|| NameLookup { url: named(args, &url), consent: args.consent.clone() }),
        requests_max: args.requests.map(|requests| requests.0),
        arrivals_max,
        cpus,
        // On the only CPU, spinning would take it away from a local target.
        spin: launch::pin::leaves_a_cpu(&usable),
        each: each(args)?,
    };
    // The one compiler says what cannot be sent, before a connection is opened.
    generate::orders::traffic(&job)?;
    Ok(job)
}

/// The origins that requests of the scenario name, and what does not go with them.
fn further(
    args: &LoadArgs,
    scenario: &mut ScenarioPlan,
    url: &HttpUrl,
    is_proxied: bool,
) -> Result<Vec<Further>> {
    let further = plan::origins::further(scenario, url, &args.consent).map_err(|problem| {
        anyhow!("{}: {}\n  remedy: {}", problem.key.join("."), problem.cause, problem.remedy)
    })?;
    let given = &args.connection;
    let one_place = [
        ("--connect-to", given.connect_to.is_some()),
        ("--unix-socket", given.unix_socket.is_some()),
        ("--resolve each", given.resolve == Some(Resolve::Each)),
        ("--follow", given.follow.is_some()),
        ("--proxy", is_proxied),
    ];
    match one_place.iter().find(|(_, is_given)| *is_given && !further.is_empty()) {
        Some((flag, _)) => bail!(
            "{flag}: the requests of the scenario go to {} origins, and {flag} is for one\n  \
             remedy: leave {flag} out, or `origin` of the requests",
            further.len() + 1
        ),
        None => Ok(further),
    }
}

/// The rows that are asked for.
fn each(args: &LoadArgs) -> Result<Option<EachPlan>> {
    let result = &args.result;
    let plan = result.each.as_deref().map(|file| EachPlan::new(file, result.each_share.0));
    plan.transpose().map_err(|error| anyhow!("--each: {error}"))
}

/// TLS of an https URL, with its files read once so that every mistake is told before a connection is made.
fn tls_plan(args: &LoadArgs, url: &HttpUrl) -> Result<Option<TlsPlan>, RunnerError> {
    let plan = plan::tls::of_url(Some(&args.tls.wanted()), url, Path::new("")).map_err(PlanError::from)?;
    plan.as_ref().map(generate::tls::load).transpose()?;
    Ok(plan)
}

fn load_plan(
    args: &LoadArgs,
    connections: Option<Count>,
    phases: &PhasePlan,
    cpus: Option<Vec<u32>>,
    usable: usize,
    origins: usize,
) -> Result<LoadPlan> {
    let requests = args.requests.map_or(u64::MAX, |requests| requests.0);
    if requests == 0 {
        bail!("-n 0 would send nothing; give at least 1");
    }
    let connections = connections.map_or(defaults::CONNECTIONS.min(requests), |connections| connections.0);
    if !(1..=CONNECTIONS_MAX).contains(&connections) {
        bail!("-c {connections} is out of range; give from 1 to {CONNECTIONS_MAX} connections");
    }
    let connections = connections as u32;
    let pin = PinPlan { generator: cpus, ..PinPlan::default() };
    let pacing = &args.pacing;
    let model = pacing.model(args.rate);
    if args.requests.is_some() && matches!(args.pacing.arrivals, Some(Arrivals::Recorded { .. })) {
        bail!("-n does not end recorded arrivals; give -d instead");
    }
    raise_descriptor_limit();
    let connections_max =
        growth("--max-connections", model, connections, ceiling(args, model)).map_err(said)?;
    let wanted = Wanted {
        connections: reserve(args, connections, connections_max).saturating_mul(origins as u32),
        workers: args.threads,
        workers_default: default_workers(&pin, usable),
        processes: args.processes,
    };
    let Spread { workers, processes } = spread(wanted, connections_per_process())?;
    let wishes = Wishes {
        model,
        rate: args.rate,
        arrivals: pacing.arrivals.as_ref(),
        shape: pacing.shape.as_ref(),
        think: pacing.think.as_ref(),
    };
    let given = &args.connection;
    if given.pipeline.is_some_and(|depth| depth > 1) && pacing.think.is_some() {
        bail!("--pipeline sends ahead of answers, --think waits after them; leave one of them out");
    }
    Ok(flags(wishes, phases)?.into_plan(LoadPlan {
        model,
        processes,
        connections,
        connections_max,
        deadline_ns: deadline("--deadline", model, given.deadline).map_err(said)?,
        driver: given.driver.unwrap_or_default(),
        spin: given.spin.unwrap_or_default(),
        priority: given.priority.unwrap_or_default(),
        connection: connection(&given.to_use(), model).map_err(said)?,
        workers,
        connect_timeout_ns: positive("--connect-timeout", args.connect_timeout)?,
        timeout_ns: positive("--timeout", args.timeout)?,
        total_timeout_ns: args.total_timeout.map(|time| positive("--total-timeout", time)).transpose()?,
        seed: args.seed,
        ..LoadPlan::default()
    }))
}

/// Up to how many connections an open load may grow: where the user gave no number at all, it has room.
fn ceiling(args: &LoadArgs, model: LoadModel) -> Option<Count> {
    let is_free = model == LoadModel::Open && args.connections.is_none();
    args.connection.max_connections.or_else(|| is_free.then_some(defaults::GROWTH))
}

/// Connections that processes are made for: those that the user allows, but not room for growth nobody asked for
/// beyond what one process holds.
fn reserve(args: &LoadArgs, connections: u32, connections_max: u32) -> u32 {
    if args.connection.max_connections.is_some() { connections_max } else { connections }
}

/// Where connections go: the URL's host unless another place is given. A Unix socket has no address; the URL's host
/// then need not resolve.
fn address(args: &LoadArgs, url: &HttpUrl) -> Result<SocketAddr> {
    if args.connection.unix_socket.is_some() {
        return Ok(SocketAddr::from((Ipv4Addr::LOCALHOST, url.port)));
    }
    let to = match &args.connection.connect_to {
        Some(text) => &HttpUrl::parse(text).map_err(RunnerError::from)?,
        None => url,
    };
    Ok(to.resolve(&args.consent).map_err(RunnerError::from)?)
}

/// The proxy of the load, by option or environment. A Unix socket needs none.
fn proxy(args: &LoadArgs, url: &HttpUrl) -> Result<Option<ProxyUse>> {
    let given = args.connection.proxy.as_deref();
    if args.connection.unix_socket.is_some() {
        return match given {
            None | Some("" | "none") => Ok(None),
            Some(_) => {
                bail!("--unix-socket: a proxy cannot reach a Unix socket of this machine; leave out --proxy")
            }
        };
    }
    Ok(proxy::choose(given, &named(args, url), |name| std::env::var(name).ok())?)
}

/// The proxy's address, if both it and the target may be used.
fn proxied(args: &LoadArgs, url: &HttpUrl, proxy: &ProxyUse) -> Result<SocketAddr> {
    if args.connection.resolve == Some(Resolve::Each) {
        bail!("--resolve each: the proxy {} resolves the name; leave one of them out", proxy.shown());
    }
    named(args, url).check_behind_proxy(&args.consent).map_err(RunnerError::from)?;
    let from = proxy.variable.as_deref().unwrap_or("--proxy");
    proxy.url.resolve(&args.consent).map_err(RunnerError::from).with_context(|| format!("{from}: the proxy"))
}

/// The URL whose host is looked up for every connection.
fn named(args: &LoadArgs, url: &HttpUrl) -> HttpUrl {
    let other = args.connection.connect_to.as_deref().and_then(|text| HttpUrl::parse(text).ok());
    other.unwrap_or_else(|| url.clone())
}

/// A problem of the shared resolution in the words of the command line.
fn said(problem: Problem) -> anyhow::Error {
    let key = problem.key.last().map(String::as_str).unwrap_or_default();
    anyhow!("{}: {}\n  remedy: {}", flag(key), problem.cause, problem.remedy)
}

/// The flag that stands for a key of `[load]` and `[load.connection]`.
fn flag(key: &str) -> &str {
    match key {
        "requests" => "--requests-per-connection",
        "lifetime" => "--connection-lifetime",
        "ramp" => "--connect-rate",
        "pipeline" => "--pipeline",
        "follow" => "--follow",
        "tcp_keepalive" => "--tcp-keepalive",
        "congestion" => "--congestion",
        "dscp" => "--dscp",
        "sources" => "--bind",
        "device" => "--device",
        "unix_socket" => "--unix-socket",
        "shape" => "--shape",
        "arrivals" => "--arrivals",
        "think" => "--think",
        "rate" => "-R",
        other => other,
    }
}

/// Refuses local addresses that this machine does not have, and those of another family than the target's, from which
/// no connection can be made.
fn check_sources(sources: &[IpAddr], to: SocketAddr) -> Result<()> {
    for source in sources {
        if source.is_ipv4() != to.is_ipv4() {
            bail!(
                "--bind: nothing can be sent from {source} to {}\n  remedy: name addresses of one family",
                to.ip()
            );
        }
        // Any port will do: whether the address is there is all that is asked.
        if let Err(error) = UdpSocket::bind((*source, 0)) {
            bail!(
                "--bind: {source} cannot be used: {error}\n  remedy: name an address of this machine; `ip address` lists them"
            );
        }
    }
    Ok(())
}

fn positive(name: &str, time: Nanos) -> Result<u64> {
    if time == Nanos::ZERO {
        bail!("{name} of zero would fail every request; give a time such as 5s");
    }
    Ok(time.0)
}

fn phases(args: &LoadArgs) -> Result<PhasePlan> {
    let duration = match (args.duration, args.requests) {
        // Of an open load the schedule says when its last request comes.
        (None, Some(requests)) if args.pacing.model(args.rate) == LoadModel::Open => {
            counted::guess(requests.0, args.rate)
        }
        (None, Some(_)) => Nanos(u64::MAX),
        (None, None) => Nanos::from_secs(10),
        (Some(duration), _) if duration < Nanos::MILLI => {
            bail!("-d {duration} is too short; give at least 1ms")
        }
        (Some(duration), _) => duration,
    };
    Ok(PhasePlan {
        warmup_at_least_ns: args.warmup.0,
        warmup_at_most_ns: args.warmup.0,
        warmup_also: Default::default(),
        sample_ns: duration.0,
        samples: 1,
        drain_ns: defaults::DRAIN.0,
    })
}

/// What is sent: a scenario file, or the request that the arguments describe.
fn scenario(args: &RequestArgs, url: &HttpUrl) -> Result<ScenarioPlan> {
    let Some(path) = &args.scenario else {
        if let Some(file) = &args.script {
            return scripted(file, args, url);
        }
        let body = args.expect_body.clone().map_or(BodyExpectation::Any, BodyExpectation::Exact);
        let expect = ExpectPlan { status: args.expect_status.clone(), body, ..ExpectPlan::default() };
        let mut scenario = ScenarioPlan::single("inline", request(args, url)?, expect);
        scenario.requests[0].chunk_bytes = chunk_bytes(args.chunked, "--chunked").map_err(said)?;
        return Ok(scenario);
    };
    if !["", "/"].contains(&url.path.as_str()) {
        bail!("the paths come from {}; give a URL of scheme, host and port only", path.display());
    }
    let mut scenario = load_scenario_file(path)?;
    let headers: Vec<_> = args.headers.iter().map(|text| header(text)).collect::<Result<_>>()?;
    for entry in &mut scenario.requests {
        entry.request.headers.extend(headers.iter().cloned());
    }
    Ok(scenario)
}

/// A script makes the requests; the arguments say what it finds in its `wrk` table.
fn scripted(file: &Path, args: &RequestArgs, url: &HttpUrl) -> Result<ScenarioPlan> {
    if args.method.is_some() || args.body.is_some() {
        bail!("-m and -b are of no use with -s: set wrk.method and wrk.body in the script");
    }
    let text = std::fs::read_to_string(file).with_context(|| {
        format!("cannot read the script {}; name a wrk Lua script, for example -s post.lua", file.display())
    })?;
    let script = ScriptPlan { file: file.display().to_string(), text, args: args.script_args.clone() };
    let body = args.expect_body.clone().map_or(BodyExpectation::Any, BodyExpectation::Exact);
    let expect = ExpectPlan { status: args.expect_status.clone(), body, ..ExpectPlan::default() };
    Ok(ScenarioPlan { script: Some(script), ..ScenarioPlan::single("script", request(args, url)?, expect) })
}

fn request(args: &RequestArgs, url: &HttpUrl) -> Result<RequestPlan> {
    let (default, body) = match (&args.upload, &args.body) {
        (Some(file), _) => ("PUT", self::body(&format!("@{file}"))?),
        (None, Some(text)) => ("POST", self::body(text)?),
        (None, None) => ("GET", Vec::new()),
    };
    let headers = args.headers.iter().map(|text| header(text)).collect::<Result<_>>()?;
    let path = args.upload.as_deref().map_or_else(|| url.path.clone(), |file| upload_path(&url.path, file));
    Ok(RequestPlan { method: args.method.clone().unwrap_or_else(|| default.to_owned()), path, headers, body })
}

/// Where a file is uploaded to: into a path that ends in `/` it goes under its own name, as with curl.
fn upload_path(path: &str, file: &str) -> String {
    let name = Path::new(file).file_name().filter(|_| file != "-" && path.ends_with('/'));
    let name = name.map(|name| percent_encode(name.as_bytes(), IN_PATH).to_string());
    format!("{path}{}", name.unwrap_or_default())
}

fn header(text: &str) -> Result<(String, String)> {
    match text.split_once(':') {
        Some((name, value)) => Ok((name.trim().to_owned(), value.trim().to_owned())),
        None => bail!("`{text}` is no header field; write -H 'Name: value'"),
    }
}

/// A text, `@FILE`, or `@-` for standard input.
fn body(text: &str) -> Result<Vec<u8>> {
    match text.strip_prefix('@') {
        Some("-") => {
            let mut bytes = Vec::new();
            std::io::stdin().read_to_end(&mut bytes).context("cannot read the body from standard input")?;
            Ok(bytes)
        }
        Some(path) => std::fs::read(path).with_context(|| format!("cannot read the body from {path}")),
        None => Ok(text.as_bytes().to_vec()),
    }
}
