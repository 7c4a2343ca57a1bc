//! `[load.connection]` and its flags: one resolution for files and for the command line.

use schema::experiment::{ConnectionUse, LoadModel, OneOrMany, Resolve};
use schema::plan::{ConnectionPlan, HttpVersion};
use schema::text::Problem;
use std::net::{IpAddr, Ipv4Addr};
use units::Nanos;
use wire::http2::WINDOW_BITS_MAX;

/// Deepest pipeline.
const PIPELINE_MAX: u32 = 1024;
/// Most streams of a connection.
const STREAMS_MAX: u32 = 10_000;
/// Most redirects of one request.
const FOLLOW_MAX: u32 = 100;
/// Most source addresses.
const SOURCES_MAX: usize = 4096;

/// Fills in the defaults and checks every value.
///
/// # Errors
/// A value out of its range, or one that contradicts another; the key is below `load.connection`.
pub(crate) fn connection(
    given: &ConnectionUse,
    model: LoadModel,
    Spoken { http, streams }: Spoken,
) -> Result<ConnectionPlan, Problem> {
    let keepalive = given.keepalive.unwrap_or(true);
    let requests_max = given.requests.map(|count| at_least_one("requests", count.0)).transpose()?;
    if !keepalive && requests_max.is_some_and(|requests| requests > 1) {
        let cause = "without keep-alive a connection serves one request";
        return Err(problem("requests", cause, "remove it, or keep connections alive"));
    }
    Ok(ConnectionPlan {
        keepalive,
        requests_max,
        lifetime_ns: positive("lifetime", given.lifetime)?,
        ramp_per_s: ramp(given)?,
        pipeline: pipeline(given, model, keepalive)?,
        http,
        streams,
        window_bits: window("window_bits", given.window_bits, 1, http)?,
        connection_window_bits: window("connection_window_bits", given.connection_window_bits, 16, http)?,
        follow: follow(given)?,
        nodelay: given.nodelay.unwrap_or(true),
        tcp_keepalive_ns: positive("tcp_keepalive", given.tcp_keepalive)?,
        congestion: given.congestion.as_deref().map(congestion).transpose()?,
        dscp: given.dscp.map(dscp).transpose()?,
        sources: sources(&given.sources)?,
        device: given.device.as_deref().map(device).transpose()?,
        unix_socket: given.unix_socket.as_deref().map(unix_socket).transpose()?,
        resolve_each: given.resolve == Some(Resolve::Each),
    })
}

fn problem(key: &str, cause: impl Into<String>, remedy: impl Into<String>) -> Problem {
    Problem::at(&format!("load.connection.{key}"), cause, remedy)
}

fn at_least_one(key: &str, value: u64) -> Result<u64, Problem> {
    if value > 0 { Ok(value) } else { Err(problem(key, "0 is out of range", "give at least 1")) }
}

fn positive(key: &str, time: Option<Nanos>) -> Result<Option<u64>, Problem> {
    match time {
        Some(Nanos::ZERO) => {
            Err(problem(key, "a time of zero is out of range", "give a time such as \"30s\""))
        }
        time => Ok(time.map(|time| time.0)),
    }
}

fn ramp(given: &ConnectionUse) -> Result<Option<f64>, Problem> {
    match given.ramp.map(|rate| rate.0) {
        Some(rate) if !(1e-3..=1e7).contains(&rate) => {
            let cause = format!("{rate} connections per second are out of range");
            Err(problem("ramp", cause, "give from 0.001 to 10000000"))
        }
        rate => Ok(rate),
    }
}

fn pipeline(given: &ConnectionUse, model: LoadModel, keepalive: bool) -> Result<u32, Problem> {
    match given.pipeline.unwrap_or(1) {
        1 => Ok(1),
        depth if !(1..=PIPELINE_MAX).contains(&depth) => Err(problem(
            "pipeline",
            format!("{depth} is out of range"),
            format!("give from 1 to {PIPELINE_MAX}"),
        )),
        _ if model == LoadModel::Open => {
            let cause = "an open load sends at its own times, not behind other requests";
            Err(problem("pipeline", cause, "remove it, or use a closed load"))
        }
        _ if !keepalive => {
            Err(problem("pipeline", "pipelining needs keep-alive", "remove it, or keep connections alive"))
        }
        depth => Ok(depth),
    }
}

/// What a connection speaks, as a level of a load.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Spoken {
    /// The version of HTTP.
    pub(crate) http: HttpVersion,
    /// Requests that a connection carries at a time; 1 over HTTP/1.1.
    pub(crate) streams: u32,
}

/// Every version of HTTP with every number of streams that it can have, in the order written.
///
/// # Errors
/// An empty list, a number out of its range, streams without HTTP/2, or what HTTP/2 cannot be joined with.
pub(crate) fn spoken(given: &ConnectionUse) -> Result<Vec<Spoken>, Problem> {
    let versions = given.http.as_ref().map_or_else(|| vec![HttpVersion::default()], OneOrMany::levels);
    let streams = streams(given, versions.contains(&HttpVersion::V2))?;
    if versions.is_empty() {
        return Err(problem("http", "the list is empty", "give \"1.1\", \"2\" or both"));
    }
    if versions.contains(&HttpVersion::V2) {
        check_http2(given)?;
    } else if given.window_bits.or(given.connection_window_bits).is_some() {
        let key = if given.window_bits.is_some() { "window_bits" } else { "connection_window_bits" };
        return Err(problem(
            key,
            "HTTP/1.1 has no windows of its own",
            "use HTTP/2 as well, or leave it out",
        ));
    }
    let of = |http| match http {
        HttpVersion::V1_1 => vec![Spoken { http, streams: 1 }],
        HttpVersion::V2 => streams.iter().map(|&streams| Spoken { http, streams }).collect(),
    };
    Ok(versions.into_iter().flat_map(of).collect())
}

/// What HTTP/2 cannot be joined with.
fn check_http2(given: &ConnectionUse) -> Result<(), Problem> {
    if given.pipeline.is_some_and(|depth| depth > 1) {
        let cause = "HTTP/2 has no pipelines";
        return Err(problem("pipeline", cause, "ask for streams instead, or use HTTP/1.1"));
    }
    Ok(())
}

fn streams(given: &ConnectionUse, has_http2: bool) -> Result<Vec<u32>, Problem> {
    const KEY: &str = "streams";
    let Some(streams) = &given.streams else { return Ok(vec![1]) };
    let streams = streams.levels();
    if let Some(outside) = streams.iter().find(|streams| !(1..=STREAMS_MAX).contains(*streams)) {
        let cause = format!("{outside} is out of range");
        return Err(problem(KEY, cause, format!("give from 1 to {STREAMS_MAX}")));
    }
    if streams.is_empty() {
        return Err(problem(KEY, "the list is empty", "give at least one number of streams"));
    }
    if !has_http2 {
        return Err(problem(
            KEY,
            "a connection of HTTP/1.1 carries one request at a time",
            "use HTTP/2 as well (http = \"2\", --http 2), or leave it out",
        ));
    }
    if !given.keepalive.unwrap_or(true) && streams.iter().any(|streams| *streams > 1) {
        let cause = "without keep-alive a connection serves one request";
        return Err(problem(KEY, cause, "remove it, or keep connections alive"));
    }
    Ok(streams)
}

/// Bits of a window of HTTP/2. Other cells of the experiment may speak HTTP/1.1, which has none.
fn window(key: &str, bits: Option<u32>, least: u32, http: HttpVersion) -> Result<Option<u32>, Problem> {
    match bits {
        Some(bits) if !(least..=WINDOW_BITS_MAX).contains(&bits) => {
            let cause = format!("a window of {bits} bits is out of range");
            Err(problem(
                key,
                cause,
                format!("give from {least} to {WINDOW_BITS_MAX}; 16 is the protocol's own"),
            ))
        }
        bits => Ok(bits.filter(|_| http == HttpVersion::V2)),
    }
}

fn follow(given: &ConnectionUse) -> Result<Option<u32>, Problem> {
    match given.follow {
        Some(hops) if !(1..=FOLLOW_MAX).contains(&hops) => Err(problem(
            "follow",
            format!("{hops} redirects are out of range"),
            format!("give from 1 to {FOLLOW_MAX}, or leave it out: a redirect is then an answer"),
        )),
        hops => Ok(hops),
    }
}

/// A name that this kernel offers, where it says which.
fn congestion(name: &str) -> Result<String, Problem> {
    let offered =
        std::fs::read_to_string("/proc/sys/net/ipv4/tcp_available_congestion_control").unwrap_or_default();
    if offered.trim().is_empty() || offered.split_whitespace().any(|offer| offer == name) {
        return Ok(name.to_owned());
    }
    let cause = format!("this kernel has no congestion control `{name}`");
    Err(problem("congestion", cause, format!("use one of: {}", offered.trim())))
}

fn dscp(value: u8) -> Result<u8, Problem> {
    if value < 64 {
        return Ok(value);
    }
    Err(problem("dscp", format!("{value} is out of range"), "give from 0 to 63"))
}

fn device(name: &str) -> Result<String, Problem> {
    if std::path::Path::new("/sys/class/net").join(name).exists() && !name.contains('/') {
        return Ok(name.to_owned());
    }
    Err(problem("device", format!("there is no network device `{name}`"), "`ip link` lists them"))
}

/// The longest path of a Unix socket on Linux is 107 bytes (unix(7)).
fn unix_socket(path: &str) -> Result<String, Problem> {
    match path.len() {
        1..=107 => Ok(path.to_owned()),
        length => {
            let cause = format!("a path of {length} bytes is no Unix socket");
            Err(problem("unix_socket", cause, "give a path of 1 to 107 bytes"))
        }
    }
}

/// Addresses and ranges of IPv4 addresses.
fn sources(texts: &[String]) -> Result<Vec<IpAddr>, Problem> {
    let mut sources = Vec::new();
    for text in texts.iter().flat_map(|text| text.split(',')) {
        let wrong = || {
            let cause = format!("`{text}` is no address or range of addresses");
            problem("sources", cause, "write for example 127.0.0.1 or 127.0.0.1-127.0.0.8")
        };
        match text.trim().split_once('-') {
            None => sources.push(text.trim().parse().map_err(|_| wrong())?),
            Some((first, last)) => {
                let parse = |text: &str| text.trim().parse::<Ipv4Addr>().map(u32::from).map_err(|_| wrong());
                let (first, last) = (parse(first)?, parse(last)?);
                if last < first || (last - first) as usize >= SOURCES_MAX {
                    return Err(wrong());
                }
                sources.extend((first..=last).map(|bits| IpAddr::from(Ipv4Addr::from(bits))));
            }
        }
    }
    if sources.len() > SOURCES_MAX {
        let cause = format!("{} source addresses are too many", sources.len());
        return Err(problem("sources", cause, format!("give at most {SOURCES_MAX}")));
    }
    Ok(sources)
}

#[cfg(test)]
mod tests {
    use super::*;
    use OneOrMany::{Many, One};
    use units::{Count, PerSecond};

    fn resolve(change: impl FnOnce(&mut ConnectionUse), model: LoadModel) -> Result<ConnectionPlan, Problem> {
        let mut given = ConnectionUse::default();
        change(&mut given);
        connection(&given, model, spoken(&given)?[0])
    }

    #[test]
    fn nothing_given_is_what_most_clients_do() {
        assert_eq!(resolve(|_| {}, LoadModel::Open).unwrap(), ConnectionPlan::default());
    }

    #[test]
    fn sources_are_addresses_and_ranges() {
        let given =
            |texts: &[&str]| sources(&texts.iter().map(|text| (*text).to_owned()).collect::<Vec<_>>());
        assert_eq!(given(&["127.0.0.1-127.0.0.3", "::1,10.0.0.1"]).unwrap().len(), 5);
        for wrong in ["x", "127.0.0.9-127.0.0.1", "0.0.0.0-255.255.255.255", "::1-::2", ""] {
            assert!(given(&[wrong]).is_err(), "{wrong}");
        }
    }

    #[test]
    fn versions_and_streams_are_levels_and_http_1_1_has_no_streams() {
        let versions = vec![HttpVersion::V1_1, HttpVersion::V2];
        let given = ConnectionUse {
            http: Some(Many(versions)),
            streams: Some(Many(vec![1, 10])),
            ..ConnectionUse::default()
        };
        let of = |http, streams| Spoken { http, streams };
        let wanted = [of(HttpVersion::V1_1, 1), of(HttpVersion::V2, 1), of(HttpVersion::V2, 10)];
        assert_eq!(spoken(&given).unwrap(), wanted);
        assert_eq!(spoken(&ConnectionUse::default()).unwrap(), [of(HttpVersion::V1_1, 1)]);
    }

    #[test]
    fn every_mistake_names_its_key() {
        type Change = fn(&mut ConnectionUse);
        let cases: [(&str, LoadModel, Change); 23] = [
            ("requests", LoadModel::Closed, |c| c.requests = Some(Count(0))),
            ("requests", LoadModel::Closed, |c| (c.keepalive, c.requests) = (Some(false), Some(Count(2)))),
            ("lifetime", LoadModel::Closed, |c| c.lifetime = Some(Nanos::ZERO)),
            ("ramp", LoadModel::Closed, |c| c.ramp = Some(PerSecond(0.0))),
            ("pipeline", LoadModel::Open, |c| c.pipeline = Some(4)),
            ("pipeline", LoadModel::Closed, |c| c.pipeline = Some(0)),
            ("pipeline", LoadModel::Closed, |c| (c.keepalive, c.pipeline) = (Some(false), Some(4))),
            ("pipeline", LoadModel::Closed, |c| (c.http, c.pipeline) = (Some(One(HttpVersion::V2)), Some(2))),
            ("streams", LoadModel::Closed, |c| c.streams = Some(One(2))),
            ("streams", LoadModel::Open, |c| {
                (c.http, c.streams) = (Some(One(HttpVersion::V1_1)), Some(One(2)));
            }),
            ("streams", LoadModel::Open, |c| {
                (c.http, c.streams) = (Some(One(HttpVersion::V2)), Some(One(10_001)));
            }),
            ("streams", LoadModel::Closed, |c| {
                (c.http, c.streams, c.keepalive) = (Some(One(HttpVersion::V2)), Some(One(2)), Some(false));
            }),
            ("http", LoadModel::Closed, |c| c.http = Some(Many(Vec::new()))),
            ("streams", LoadModel::Closed, |c| {
                (c.http, c.streams) = (Some(One(HttpVersion::V2)), Some(Many(Vec::new())));
            }),
            ("window_bits", LoadModel::Closed, |c| c.window_bits = Some(20)),
            ("window_bits", LoadModel::Closed, |c| {
                (c.http, c.window_bits) = (Some(One(HttpVersion::V2)), Some(31));
            }),
            ("connection_window_bits", LoadModel::Closed, |c| {
                (c.http, c.connection_window_bits) = (Some(One(HttpVersion::V2)), Some(15));
            }),
            ("follow", LoadModel::Closed, |c| c.follow = Some(0)),
            ("follow", LoadModel::Open, |c| c.follow = Some(101)),
            ("congestion", LoadModel::Closed, |c| c.congestion = Some("nonesuch".into())),
            ("dscp", LoadModel::Closed, |c| c.dscp = Some(64)),
            ("device", LoadModel::Closed, |c| c.device = Some("nonesuch0".into())),
            ("unix_socket", LoadModel::Closed, |c| c.unix_socket = Some("x".repeat(108))),
        ];
        for (key, model, change) in cases {
            let problem = resolve(change, model).unwrap_err();
            assert_eq!(problem.key, ["load", "connection", key], "{problem:?}");
            assert!(!problem.remedy.is_empty());
        }
    }
}
