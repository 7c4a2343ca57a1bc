//! What HTTP/2 needs of TLS, how much of it fits the memory, and the version that calls of gRPC take.

use crate::place::tls::for_http2;
use schema::experiment::{ConnectionUse, Load, OneOrMany};
use schema::plan::{HttpVersion, LoadPlan, ScenarioPlan};
use schema::text::Problem;
use std::borrow::Cow;
use wire::{Framing as _, Http2};

/// Most requests that all connections carry at a time: each has memory of its own.
const REQUESTS_MAX: u64 = 1 << 19;

/// Lets the load's TLS agree on the load's version of HTTP. `alpn` is what the user wants to be offered.
///
/// # Errors
/// An offer without HTTP/2, or more streams than fit the memory.
pub(crate) fn agree(load: &mut LoadPlan, alpn: Option<&[String]>) -> Result<(), Problem> {
    if load.connection.http == HttpVersion::V1_1 {
        return Ok(());
    }
    let requests = u64::from(load.connections_max.max(load.connections)) * u64::from(load.connection.streams);
    if requests > REQUESTS_MAX {
        let cause = format!("{requests} requests at a time are too many");
        let remedy = format!("open fewer connections or streams: together at most {REQUESTS_MAX} requests");
        return Err(Problem::at("load.connection.streams", cause, remedy));
    }
    let Some(tls) = &mut load.tls else { return Ok(()) };
    match alpn {
        None => *tls = for_http2(tls),
        Some(offered) if offered.iter().any(|name| name == Http2::ALPN) => {}
        Some(_) => {
            let cause = "HTTP/2 over TLS is agreed on by ALPN, and h2 is not offered";
            return Err(Problem::at(
                "load.connection.http",
                cause,
                "offer h2 by ALPN, or leave that setting out",
            ));
        }
    }
    Ok(())
}

/// The settings of a load that makes calls of gRPC: they take HTTP/2, whether it is asked for or not. Of several versions,
/// which are for the other scenarios of an experiment, they take that one.
///
/// # Errors
/// HTTP/1.1 alone is asked for, or redirects are to be followed: a call has none.
pub(crate) fn of_calls<'a>(load: &'a Load, scenario: &ScenarioPlan) -> Result<Cow<'a, Load>, Problem> {
    match &load.connection.http {
        _ if !scenario.has_calls() => Ok(Cow::Borrowed(load)),
        _ if load.connection.follow.is_some() => {
            let cause = "calls of gRPC are not redirected";
            Err(Problem::at("load.connection.follow", cause, "leave it out"))
        }
        Some(asked) if !asked.levels().contains(&HttpVersion::V2) => {
            let cause = "calls of gRPC take HTTP/2";
            Err(Problem::at("load.connection.http", cause, "leave it out, or ask for 2"))
        }
        _ => {
            let connection =
                ConnectionUse { http: Some(OneOrMany::One(HttpVersion::V2)), ..load.connection.clone() };
            Ok(Cow::Owned(Load { connection, ..load.clone() }))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use OneOrMany::One;
    use schema::plan::{CallPlan, ConnectionPlan, ExpectPlan, RequestPlan};
    use schema::tls::{TlsPlan, TlsUse};

    fn load(http: HttpVersion) -> LoadPlan {
        let tls: TlsPlan =
            crate::place::tls::resolve(&TlsUse::default(), "h", std::path::Path::new("")).unwrap();
        LoadPlan {
            connections: 1,
            connection: ConnectionPlan { http, streams: 10, ..ConnectionPlan::default() },
            tls: Some(tls),
            ..LoadPlan::default()
        }
    }

    fn scenario() -> ScenarioPlan {
        ScenarioPlan::single("one", RequestPlan::default(), ExpectPlan::default())
    }

    fn offered(http: HttpVersion, alpn: Option<&[&str]>) -> Result<Vec<String>, Problem> {
        let names = alpn.map(|names| names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>());
        let mut load = load(http);
        if let Some(names) = &names {
            load.tls.as_mut().unwrap().alpn.clone_from(names);
        }
        agree(&mut load, names.as_deref())?;
        Ok(load.tls.unwrap().alpn)
    }

    #[test]
    fn tls_offers_what_connections_speak() {
        assert_eq!(offered(HttpVersion::V1_1, None).unwrap(), ["http/1.1"]);
        assert_eq!(offered(HttpVersion::V2, None).unwrap(), ["h2"]);
        assert_eq!(offered(HttpVersion::V2, Some(&["h2", "http/1.1"])).unwrap(), ["h2", "http/1.1"]);
        let problem = offered(HttpVersion::V2, Some(&["http/1.1"])).unwrap_err();
        assert_eq!(problem.key, ["load", "connection", "http"]);
    }

    #[test]
    fn calls_take_http2_by_themselves() {
        let mut scenario = scenario();
        let asked =
            |http| Load { connection: ConnectionUse { http, ..ConnectionUse::default() }, ..Load::default() };
        let version = |http, scenario: &ScenarioPlan| {
            of_calls(&asked(http), scenario)
                .map(|load| load.connection.http.clone())
                .map_err(|problem| problem.key)
        };
        assert_eq!(version(None, &scenario), Ok(None));
        scenario.requests[0].grpc = Some(CallPlan::default());
        assert_eq!(version(None, &scenario), Ok(Some(One(HttpVersion::V2))));
        assert_eq!(version(Some(One(HttpVersion::V2)), &scenario), Ok(Some(One(HttpVersion::V2))));
        let both = OneOrMany::Many(vec![HttpVersion::V1_1, HttpVersion::V2]);
        assert_eq!(version(Some(both), &scenario), Ok(Some(One(HttpVersion::V2))));
        let key = ["load", "connection", "http"].map(str::to_owned).to_vec();
        assert_eq!(version(Some(One(HttpVersion::V1_1)), &scenario), Err(key));
        let followed = ConnectionUse { follow: Some(2), ..ConnectionUse::default() };
        let problem = of_calls(&Load { connection: followed, ..Load::default() }, &scenario).unwrap_err();
        assert_eq!(problem.key, ["load", "connection", "follow"]);
    }

    #[test]
    fn what_cannot_be_sent_is_refused() {
        assert_eq!(agree(&mut load(HttpVersion::V2), None), Ok(()));
        let mut many = LoadPlan { connections: 200_000, ..load(HttpVersion::V2) };
        let problem = agree(&mut many, None).unwrap_err();
        assert_eq!(problem.key, ["load", "connection", "streams"]);
    }
}
