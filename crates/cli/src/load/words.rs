//! The resolved totals of a load in words, before anything is sent.

use plan::LoadJob;
use schema::load::{ErrorClass, Validity};
use std::collections::BTreeMap;
use units::Nanos;

/// `GET http://host/: closed loop, 64 connections, 1 worker, 10s`.
pub(super) fn plan_line(job: &LoadJob) -> String {
    format!("{}: {}", job.scenario.words(&job.url), model(job))
}

/// Why a load that ended well has an exit code of failure: the gates that say that its numbers must not be used. Said
/// whatever the format, because a script sees nothing else of them.
pub(super) fn unusable(validity: &Validity) -> String {
    let gates: Vec<_> = validity.reasons.iter().map(|gate| gate.gate.replace('_', " ")).collect();
    format!("exit code 2: these numbers must not be used ({})", gates.join(", "))
}

/// Why no connection could be opened, and what to do. A port that refused needs no error number.
pub(super) fn nothing_connected(
    failures: &BTreeMap<ErrorClass, u64>,
    example: &str,
    job: &LoadJob,
) -> String {
    let is_refused = failures.keys().all(|class| *class == ErrorClass::Refused);
    let cause = match is_refused && job.proxy.is_none() && job.load.connection.unix_socket.is_none() {
        true => format!("nothing listens at {}", job.place()),
        false => format!("no connection could be opened to {}: {example}", job.place()),
    };
    format!("{cause}\n  remedy: {}", remedy(failures, job))
}

/// What to do where no connection could be opened.
fn remedy(failures: &BTreeMap<ErrorClass, u64>, job: &LoadJob) -> &'static str {
    if let Some(ErrorClass::Proxy) = failures.keys().max_by_key(|class| failures[class]) {
        return "ask whoever runs the proxy, name another with --proxy, or connect without one: --proxy none";
    }
    let is_unix = job.load.connection.unix_socket.is_some();
    match failures.iter().max_by_key(|(_, count)| **count).map(|(class, _)| *class) {
        _ if is_unix => "start the target, and name the socket that it listens on with --unix-socket",
        Some(ErrorClass::Refused) if job.proxy.is_some() => {
            "start the proxy, or connect without one: --proxy none"
        }
        Some(ErrorClass::Refused) => "start the target, or give the host and port where it listens",
        Some(ErrorClass::ConnectTimeout) => {
            "check the address and the firewalls on the way, or wait longer with --connect-timeout"
        }
        Some(ErrorClass::Unreachable) => "check the address and the route to it: `ip route get ADDRESS`",
        Some(ErrorClass::AddressNotAvailable) => "open fewer connections, or name more addresses with --bind",
        Some(ErrorClass::DescriptorLimit) => "raise the limit of open files: ulimit -n",
        Some(ErrorClass::NameResolution) => "check the spelling of the host, or give an address",
        Some(ErrorClass::Tls) => {
            "write http:// if the target speaks plain text; name its CA with --cacert, or trust anybody with -k"
        }
        _ => "check that the target listens there and speaks what the URL says",
    }
}

/// Model, rate or count, connections, workers and time, all in total.
fn model(job: &LoadJob) -> String {
    let load = &job.load;
    let shape = load.shape.as_ref().map_or(String::new(), |shape| format!(" with the shape {}", shape.kind));
    let think = load.think.map_or(String::new(), |think| format!(", think time {think}"));
    let what = match (load.rate_per_s, &load.arrivals, job.requests_max) {
        (Some(rate), Some(law), requests) => {
            let count = requests.map_or(String::new(), |requests| format!(", {requests} requests in total"));
            format!("open loop, {rate} requests/s in total{shape} ({} arrivals){count}", law.name())
        }
        (_, _, Some(requests)) => format!("closed loop, {requests} requests in total{think}"),
        _ => format!("closed loop{think}"),
    };
    let plural = |n: u32| if n == 1 { "" } else { "s" };
    let time = match job.phases.sample_ns {
        u64::MAX => String::new(),
        sample_ns => format!(", {}", Nanos(sample_ns)),
    };
    let processes = match load.processes {
        0 | 1 => String::new(),
        several => format!(" in {several} processes"),
    };
    let (c, w) = (load.connections, load.workers);
    let streams = load.connection.stream_words();
    format!("{what}, {c} connection{}{streams}, {w} worker{}{processes}{time}", plural(c), plural(w))
}
