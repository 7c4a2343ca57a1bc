//! Where the connections of a single load go: to the URL's host, to another address, to a Unix socket, or through a
//! proxy; and whether that may be.

use super::net::{HttpUrl, NetError};
use super::origins::{self, Further};
use super::proxy::{self, ProxyError, ProxyUse};
use crate::error::PlanError;
use crate::wrong::Wrong;
use schema::experiment::{ConnectionUse, Resolve};
use schema::plan::ScenarioPlan;
use schema::text::Problem;
use std::net::{IpAddr, Ipv4Addr, SocketAddr, UdpSocket};

/// What says where to.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Wanted<'a> {
    pub(crate) url: &'a HttpUrl,
    /// Where connections go instead of the URL's host.
    pub(crate) connect_to: Option<&'a str>,
    /// A proxy, or `none`; else that of the environment.
    pub(crate) proxy: Option<&'a str>,
    /// Hosts and addresses that the user consents to.
    pub(crate) consent: &'a [String],
    pub(crate) connection: &'a ConnectionUse,
}

/// Where to.
#[derive(Debug)]
pub(crate) struct Way {
    /// The address connected to: the proxy's, where there is one.
    pub(crate) to: SocketAddr,
    pub(crate) proxy: Option<ProxyUse>,
    /// The URL whose host is looked up for every connection.
    pub(crate) named: HttpUrl,
}

impl Wanted<'_> {
    /// # Errors
    /// A name that does not resolve, an address without consent, or a proxy that cannot be used.
    pub(crate) fn way(&self, variable: impl Fn(&str) -> Option<String>) -> Result<Way, Wrong> {
        let named = match self.connect_to {
            Some(text) => HttpUrl::parse(text).map_err(PlanError::from)?,
            None => self.url.clone(),
        };
        let proxy = self.proxy(&named, variable)?;
        let to = match &proxy {
            Some(proxy) => self.behind(proxy, &named)?,
            // The URL's host then need not resolve.
            None if self.connection.unix_socket.is_some() => {
                SocketAddr::from((Ipv4Addr::LOCALHOST, self.url.port))
            }
            None => named.resolve(self.consent).map_err(PlanError::from)?,
        };
        Ok(Way { to, proxy, named })
    }

    /// The proxy of the load, by option or environment. A Unix socket needs none.
    fn proxy(
        &self,
        named: &HttpUrl,
        variable: impl Fn(&str) -> Option<String>,
    ) -> Result<Option<ProxyUse>, Wrong> {
        if self.connection.unix_socket.is_none() {
            return Ok(proxy::choose(self.proxy, named, variable).map_err(PlanError::from)?);
        }
        match self.proxy {
            None | Some("" | "none") => Ok(None),
            Some(_) => {
                let cause = "a proxy cannot reach a Unix socket of this machine";
                Err(Problem::at("load.connection.unix_socket", cause, "leave the proxy out").into())
            }
        }
    }

    /// The proxy's address, if both it and the target may be used.
    fn behind(&self, proxy: &ProxyUse, named: &HttpUrl) -> Result<SocketAddr, Wrong> {
        if self.connection.resolve == Some(Resolve::Each) {
            let cause = format!("the proxy {} resolves the name", proxy.shown());
            return Err(Problem::at("load.connection.resolve", cause, "leave one of them out").into());
        }
        named.check_behind_proxy(self.consent).map_err(PlanError::from)?;
        let from = || format!("{}: the proxy", proxy.variable.as_deref().unwrap_or("--proxy"));
        let wrong = |source: NetError| PlanError::from(ProxyError::Net { from: from(), source });
        Ok(proxy.url.resolve(self.consent).map_err(wrong)?)
    }

    /// The origins that requests of the scenario name, and what does not go with them.
    ///
    /// # Errors
    /// As [`origins::further`], and settings that are for one origin.
    pub(crate) fn further(&self, scenario: &mut ScenarioPlan, way: &Way) -> Result<Vec<Further>, Problem> {
        let further = origins::further(scenario, self.url, self.consent)?;
        let given = self.connection;
        let for_one = [
            ("connect_to", self.connect_to.is_some()),
            ("load.connection.unix_socket", given.unix_socket.is_some()),
            ("load.connection.resolve", given.resolve == Some(Resolve::Each)),
            ("load.connection.follow", given.follow.is_some()),
            ("proxy", way.proxy.is_some()),
        ];
        match for_one.iter().find(|(_, is_given)| *is_given && !further.is_empty()) {
            None => Ok(further),
            Some((key, _)) => {
                let origins = further.len() + 1;
                let cause =
                    format!("the requests of the scenario go to {origins} origins, and this is for one");
                Err(Problem::at(key, cause, "leave it out, or `origin` of the requests"))
            }
        }
    }
}

/// Refuses local addresses that this machine does not have, and those of another family than the target's, from which
/// no connection can be made.
///
/// # Errors
/// Such an address.
pub(crate) fn check_sources(sources: &[IpAddr], to: SocketAddr) -> Result<(), Problem> {
    const KEY: &str = "load.connection.sources";
    for source in sources {
        if source.is_ipv4() != to.is_ipv4() {
            let cause = format!("nothing can be sent from {source} to {}", to.ip());
            return Err(Problem::at(KEY, cause, "name addresses of one family"));
        }
        // Any port will do: whether the address is there is all that is asked.
        if let Err(error) = UdpSocket::bind((*source, 0)) {
            let cause = format!("{source} cannot be used: {error}");
            return Err(Problem::at(KEY, cause, "name an address of this machine; `ip address` lists them"));
        }
    }
    Ok(())
}
