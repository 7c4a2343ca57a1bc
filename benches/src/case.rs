//! What every peer is asked to do. A case is data: a new kind of load is a new line in [`ALL`] and a use of it in each
//! peer that can make it.

use serde::Serialize;

/// One load, from one thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub(crate) struct Case {
    /// Its name in tables and files and for `--cases`.
    pub(crate) name: &'static str,
    /// What is asked for (see bench-server).
    pub(crate) path: &'static str,
    /// Connections, each with one request in flight at most, or `streams` over HTTP/2.
    pub(crate) connections: u32,
    /// Requests in flight on each connection by HTTP/2; without it HTTP/1.1 is spoken.
    pub(crate) streams: Option<u32>,
    /// HTTPS instead of HTTP.
    pub(crate) tls: bool,
    /// Whether connections stay; else each carries one request.
    pub(crate) keep_alive: bool,
    /// Constant rate over all connections; none is a closed loop.
    pub(crate) rate_per_s: Option<u32>,
    /// What is sent.
    pub(crate) work: Work,
    /// Only the peers that a target speaks of take part.
    pub(crate) core_only: bool,
}

/// What a case sends.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub(crate) enum Work {
    /// The same request over and over.
    Url,
    /// What `fixtures/counter.lua` says.
    Script,
    /// Ten requests with expressions, `fixtures/ten.toml`; peers that cannot do that send the same request over and
    /// over, and are what it costs without.
    Mix,
    /// The same call of gRPC over and over.
    Call,
    /// Calls of gRPC whose message has a number that counts up.
    CallMix,
}

/// The script of [`Work::Script`].
pub(crate) const SCRIPT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/fixtures/counter.lua");
/// The scenario of [`Work::Mix`].
pub(crate) const SCENARIO: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/fixtures/ten.toml");
/// The method of [`Work::Call`] and [`Work::CallMix`], and the file that describes it.
pub(crate) const METHOD: &str = "bench.Greeter/Greet";
pub(crate) const PROTO: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/fixtures/greeter.proto");

const CLOSED: Case = Case {
    name: "closed-64",
    path: "/ping",
    connections: 64,
    streams: None,
    tls: false,
    keep_alive: true,
    rate_per_s: None,
    work: Work::Url,
    core_only: false,
};
const HTTP2: Case = Case { core_only: true, ..CLOSED };
const GRPC: Case = Case { path: "/", connections: 1, streams: Some(50), work: Work::Call, ..HTTP2 };
const RATE: Case = Case { path: "/stamp", connections: 16, ..CLOSED };

/// All cases, in the order of the tables.
pub(crate) const ALL: [Case; 20] = [
    Case { name: "closed-1", connections: 1, core_only: true, ..CLOSED },
    Case { name: "closed-16", connections: 16, ..CLOSED },
    CLOSED,
    Case { name: "closed-512", connections: 512, ..CLOSED },
    Case { name: "closed-4096", connections: 4096, ..CLOSED },
    Case { name: "large-64", path: "/large", ..CLOSED },
    Case { name: "https-64", tls: true, ..CLOSED },
    Case { name: "handshake-64", path: "/close", tls: true, keep_alive: false, ..CLOSED },
    Case { name: "script-64", work: Work::Script, core_only: true, ..CLOSED },
    Case { name: "mix-64", work: Work::Mix, core_only: true, ..CLOSED },
    Case { name: "h2-1x1", connections: 1, streams: Some(1), ..HTTP2 },
    Case { name: "h2-1x10", connections: 1, streams: Some(10), ..HTTP2 },
    Case { name: "h2-1x100", connections: 1, streams: Some(100), ..HTTP2 },
    Case { name: "h2-16x10", connections: 16, streams: Some(10), ..HTTP2 },
    Case { name: "h2-tls-16x10", connections: 16, streams: Some(10), tls: true, ..HTTP2 },
    Case { name: "grpc-1x50", ..GRPC },
    Case { name: "grpc-mix-1x50", work: Work::CallMix, ..GRPC },
    Case { name: "rate-1k", rate_per_s: Some(1_000), ..RATE },
    Case { name: "rate-10k", rate_per_s: Some(10_000), ..RATE },
    Case { name: "rate-40k", rate_per_s: Some(40_000), ..RATE },
];

impl Case {
    /// Requests that may be in flight at once.
    pub(crate) fn in_flight_max(&self) -> u32 {
        self.connections * self.streams.unwrap_or(1)
    }
}

/// The cases of this name or this kind (`closed`, `rate`, …), in the order of the tables.
pub(crate) fn find(name: &str) -> Vec<Case> {
    let is_kind = |case: &Case| case.name.rsplit_once('-').is_some_and(|(kind, _)| kind == name);
    ALL.into_iter().filter(|case| case.name == name || is_kind(case)).collect()
}

/// A case at a server for a time.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Job<'a> {
    /// Whole address, path included.
    pub(crate) url: &'a str,
    /// The load.
    pub(crate) case: Case,
    /// How long, in whole seconds, as all peers take it.
    pub(crate) seconds: u64,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cases_are_found_by_name_and_by_kind() {
        for (name, wanted) in
            [("closed", 5), ("closed-64", 1), ("rate", 3), ("h2", 4), ("grpc", 1), ("clo", 0), ("", 0)]
        {
            assert_eq!(find(name).len(), wanted, "{name}");
        }
        let names: std::collections::BTreeSet<&str> = ALL.iter().map(|case| case.name).collect();
        assert_eq!(names.len(), ALL.len());
    }
}
