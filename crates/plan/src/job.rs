//! One resolved load: its requests, its destination, its pacing and its phases.

use crate::each::EachPlan;
use crate::load::ports;
use crate::place::login;
use crate::place::login::Login;
use crate::place::net::HttpUrl;
use crate::place::origins::{self, Further};
use crate::place::proxy::ProxyUse;
use request::{ProgramError, Traffic};
use schema::plan::{LoadPlan, PhasePlan, ScenarioPlan};
use serde::{Deserialize, Serialize};
use std::net::SocketAddr;
use std::path::PathBuf;
use units::Seed;

/// A load, resolved and ready. Its serde form goes to generator processes only and into no file.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub struct LoadJob {
    /// Scheme, host and port as asked for.
    pub url: String,
    /// Value of the Host field.
    pub authority: String,
    /// The address connected to: the proxy's, where there is one.
    pub to: SocketAddr,
    /// Further origins that requests of the scenario go to.
    #[serde(default)]
    pub further: Vec<Further>,
    /// What every connection leads through.
    #[serde(default)]
    pub proxy: Option<ProxyUse>,
    /// What is sent and what right answers are.
    pub scenario: ScenarioPlan,
    /// User and password of the URL; sent by every request that has no Authorization of its own.
    pub login: Option<Login>,
    /// For each request, the bytes that its answers must have, where the check of the contract saw them.
    pub bodies: Vec<Option<Vec<u8>>>,
    /// How it is sent.
    pub load: LoadPlan,
    /// When it is measured.
    pub phases: PhasePlan,
    /// If set, the name is resolved for every connection, and `to` is only the first address.
    pub name: Option<NameLookup>,
    /// End after this many measured requests.
    pub requests_max: Option<u64>,
    /// Open model with `requests_max`: the arrivals of the schedule up to the last of these, warm-up included.
    pub arrivals_max: Option<u64>,
    /// CPUs of the workers.
    pub cpus: Option<Vec<u32>>,
    /// Whether workers may spin before an intended time.
    pub spin: bool,
    /// The network namespace that the load comes from; the caller's own where absent.
    #[serde(default)]
    pub network: Option<PathBuf>,
    /// One row for each request, where somebody wants them.
    pub each: Option<EachPlan>,
}

impl LoadJob {
    /// Puts in what follows from where the load goes, before anything of it is shown: the source addresses that its ports
    /// need, the `Host` of further origins, and the field that ends a connection. What the user has given is kept; a
    /// second time changes nothing.
    #[must_use]
    pub fn settled(mut self) -> Self {
        ports::spread(&mut self.load, self.to);
        origins::name_hosts(&mut self.scenario, &self.further);
        // A script says itself what it sends.
        if !self.load.connection.keepalive && self.scenario.script.is_none() {
            for entry in &mut self.scenario.requests {
                let headers = &mut entry.request.headers;
                if !headers.iter().any(|(have, _)| have.eq_ignore_ascii_case("connection")) {
                    headers.push(("Connection".to_owned(), "close".to_owned()));
                }
            }
        }
        self
    }

    /// Servers that the load goes to; `load.connections` are opened to each.
    #[must_use]
    pub fn origins(&self) -> usize {
        1 + self.further.len()
    }

    /// Compiles the requests. Every mistake in them is reported here, before a connection is opened.
    ///
    /// # Errors
    /// A request, an expression, a feeder, a token or a check that cannot be.
    pub fn traffic(&self) -> Result<Traffic, ProgramError> {
        let mut scenario = self.scenario.clone();
        if let Some(login) = &self.login {
            login::authorize(&mut scenario, &login.basic());
        }
        let tracing = self.load.trace.map(|trace| trace.tracing());
        Traffic::traced(&scenario, &self.authority, Seed(self.load.seed), &self.bodies, tracing)
    }

    /// Connections to all origins together.
    #[must_use]
    pub fn connections(&self) -> u64 {
        u64::from(self.load.connections) * self.origins() as u64
    }
}

/// A name that is looked up for every connection, with the consent that its addresses need.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
pub struct NameLookup {
    /// Host and port.
    pub url: HttpUrl,
    /// Hosts and addresses that the user consents to.
    pub consent: Vec<String>,
}

impl LoadJob {
    /// Where connections go: the path of a Unix socket, else address and port.
    #[must_use]
    pub fn place(&self) -> String {
        match (&self.load.connection.unix_socket, &self.proxy) {
            (Some(path), _) => format!("unix:{path}"),
            (None, Some(proxy)) => format!("{} through the proxy {}", proxy.target, proxy.shown()),
            (None, None) => self.to.to_string(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use schema::plan::{ConnectionPlan, ExpectPlan, RequestPlan, ScriptPlan};

    fn job(connections: u32, keepalive: bool, headers: &[(&str, &str)]) -> LoadJob {
        let headers = headers.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
        let request =
            RequestPlan { method: "GET".into(), path: "/".into(), headers, ..RequestPlan::default() };
        LoadJob {
            url: "http://127.0.0.1:80".to_owned(),
            authority: "127.0.0.1:80".to_owned(),
            to: "127.0.0.1:80".parse().unwrap(),
            further: Vec::new(),
            proxy: None,
            scenario: ScenarioPlan::single("inline", request, ExpectPlan::default()),
            login: None,
            bodies: Vec::new(),
            load: LoadPlan {
                connections,
                connection: ConnectionPlan { keepalive, ..ConnectionPlan::default() },
                ..LoadPlan::default()
            },
            phases: crate::intervals::once(units::Nanos::ZERO, units::Nanos::SECOND),
            name: None,
            requests_max: None,
            arrivals_max: None,
            cpus: None,
            spin: false,
            network: None,
            each: None,
        }
    }

    fn headers(job: &LoadJob) -> &[(String, String)] {
        &job.scenario.requests[0].request.headers
    }

    #[test]
    fn what_runs_is_in_the_job_before_it_is_shown() {
        let close = ("Connection".to_owned(), "close".to_owned());
        assert_eq!(headers(&job(1, false, &[]).settled()), [close]);
        assert_eq!(headers(&job(1, false, &[]).settled().settled()).len(), 1);
        assert_eq!(headers(&job(1, false, &[("connection", "keep-alive")]).settled()).len(), 1);
        assert!(headers(&job(1, true, &[]).settled()).is_empty());
        let mut scripted = job(1, false, &[]);
        scripted.scenario.script = Some(ScriptPlan::default());
        assert!(headers(&scripted.settled()).is_empty(), "a script says itself what it sends");
        assert!(job(1, true, &[]).settled().load.connection.sources.is_empty());
        let many = job(150_000, true, &[]).settled();
        assert!(many.load.connection.sources.len() > 1, "one address has too few ports");
        assert_eq!(many.clone().settled().load, many.load);
    }
}
