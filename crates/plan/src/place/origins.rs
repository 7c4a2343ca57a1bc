//! A load of several origins: requests of a scenario that name an origin of their own go there, and not to the URL of
//! the load.
//!
//! Every origin needs the same consent as the first. All of them speak the scheme of the first: a worker either has TLS
//! or has none. Absent on purpose: sessions, redirects and tunnels over several origins.

use crate::place::net::{HttpUrl, NetError};
use schema::plan::ScenarioPlan;
use schema::text::Problem;
use serde::{Deserialize, Serialize};
use std::net::SocketAddr;

/// Most origins of a load.
const ORIGINS_MAX: usize = 100;

/// An origin beside that of the load's URL.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
pub struct Further {
    /// Scheme, host and port.
    pub url: HttpUrl,
    /// Where its connections go.
    pub to: SocketAddr,
}

/// An origin as a scenario names it: scheme, host and port, with no path.
///
/// # Errors
/// No URL, or one with a path, a user or a query.
pub fn parse(text: &str, at: &str) -> Result<HttpUrl, Problem> {
    let url = HttpUrl::parse(text).map_err(|error| {
        Problem::at(at, error.to_string(), "write scheme, host and port, such as http://127.0.0.1:8081")
    })?;
    if url.path != "/" {
        let cause = format!("an origin has no path, and this one has `{}`", url.path);
        return Err(Problem::at(at, cause, format!("write {}, and the path in `path`", url.origin())));
    }
    Ok(url)
}

/// The origins that a scenario names beside `first`, in the order of first appearance, resolved. Requests that name
/// `first` itself name none from then on.
///
/// # Errors
/// More than 100 of them, one of another scheme, a name that does not resolve, an address that needs consent, or a
/// session.
pub fn further(
    scenario: &mut ScenarioPlan,
    first: &HttpUrl,
    consent: &[String],
) -> Result<Vec<Further>, Problem> {
    let is_session = scenario.session.is_some();
    let mut all: Vec<Further> = Vec::new();
    for (index, entry) in scenario.requests.iter_mut().enumerate() {
        let Some(text) = &entry.origin else { continue };
        let at = format!("requests.{index}.origin");
        let refuse = |cause: String, remedy: String| Problem::at(&at, cause, remedy);
        let url = parse(text, &at)?;
        if url.origin() == first.origin() {
            entry.origin = None;
            continue;
        }
        if all.iter().any(|known| known.url.origin() == url.origin()) {
            continue;
        }
        if url.scheme != first.scheme {
            let cause = format!("{} and {} cannot be loaded together", first.origin(), url.origin());
            return Err(refuse(cause, "let all origins be http, or all https".to_owned()));
        }
        if is_session {
            let cause = "a session goes to one origin: its user has one connection".to_owned();
            return Err(refuse(cause, "leave `origin` out, or let the requests be a mix".to_owned()));
        }
        if all.len() + 1 == ORIGINS_MAX {
            let cause = format!("the requests go to more than {ORIGINS_MAX} origins");
            return Err(refuse(cause, "part them into several scenarios".to_owned()));
        }
        let to = url.resolve(consent).map_err(|error| match error {
            NetError::Consent { host, address } => refuse(
                format!("{host} ({address}) is neither loopback nor private"),
                format!("if you are allowed to load it, say so: --consent {host}"),
            ),
            error => refuse(error.to_string(), "correct the origin".to_owned()),
        })?;
        all.push(Further { url, to });
    }
    Ok(all)
}

/// The number of each request's origin: 0 is the load's URL, n the `n`th of `further`. Empty where there is none.
#[must_use]
pub fn numbers(scenario: &ScenarioPlan, further: &[Further]) -> Vec<u16> {
    if further.is_empty() {
        return Vec::new();
    }
    let of = |text: &String| further.iter().position(|known| known.url.origin() == *text);
    let number = |origin: &Option<String>| origin.as_ref().and_then(of).map_or(0, |place| place as u16 + 1);
    scenario.requests.iter().map(|entry| number(&entry.origin)).collect()
}

/// Gives each request of a further origin the `Host` of it, unless the user has given one.
pub fn name_hosts(scenario: &mut ScenarioPlan, further: &[Further]) {
    for entry in &mut scenario.requests {
        let Some(known) = further.iter().find(|known| entry.origin.as_deref() == Some(&known.url.origin()))
        else {
            continue;
        };
        let headers = &mut entry.request.headers;
        if !headers.iter().any(|(name, _)| name.eq_ignore_ascii_case("host")) {
            headers.insert(0, ("Host".to_owned(), known.url.authority()));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use schema::plan::{EntryPlan, ScenarioPlan, SessionPlan};

    fn scenario(origins: &[Option<&str>]) -> ScenarioPlan {
        let entry =
            |origin: &Option<&str>| EntryPlan { origin: origin.map(str::to_owned), ..EntryPlan::default() };
        ScenarioPlan { requests: origins.iter().map(entry).collect(), ..ScenarioPlan::default() }
    }

    fn url(text: &str) -> HttpUrl {
        HttpUrl::parse(text).unwrap()
    }

    #[test]
    fn origins_are_numbered_as_they_appear_and_the_first_is_the_urls() {
        let mut plan = scenario(&[
            None,
            Some("http://127.0.0.1:8081"),
            Some("http://127.0.0.1:8080"),
            Some("http://[::1]:8082"),
            Some("http://127.0.0.1:8081"),
        ]);
        let further = further(&mut plan, &url("http://127.0.0.1:8080/x"), &[]).unwrap();
        let ports: Vec<_> = further.iter().map(|known| known.to.port()).collect();
        assert_eq!(ports, [8081, 8082]);
        assert_eq!(numbers(&plan, &further), [0, 1, 0, 2, 1]);
        plan.requests[3].request.headers.push(("hOst".to_owned(), "mine".to_owned()));
        name_hosts(&mut plan, &further);
        let hosts: Vec<_> =
            plan.requests.iter().map(|entry| entry.request.headers.first().cloned()).collect();
        let host = |text: &str| Some(("Host".to_owned(), text.to_owned()));
        let own = Some(("hOst".to_owned(), "mine".to_owned()));
        assert_eq!(hosts, [None, host("127.0.0.1:8081"), None, own, host("127.0.0.1:8081")]);
        assert_eq!(numbers(&plan, &[]), [0_u16; 0]);
    }

    #[test]
    fn what_cannot_go_together_is_refused() {
        let first = url("http://127.0.0.1:8080");
        let refused = |mut plan: ScenarioPlan| {
            let problem = further(&mut plan, &first, &[]).unwrap_err();
            format!("{}: {}; {}", problem.key.join("."), problem.cause, problem.remedy)
        };
        assert!(refused(scenario(&[Some("https://127.0.0.1:8081")])).contains("cannot be loaded together"));
        assert!(
            refused(scenario(&[None, Some("http://127.0.0.1:8081/path")]))
                .starts_with("requests.1.origin: an origin has no path")
        );
        assert!(refused(scenario(&[Some("ftp://127.0.0.1")])).contains("only http://"));
        // An address of TEST-NET-1: it is looked at and never connected to.
        assert!(refused(scenario(&[Some("http://192.0.2.1")])).contains("--consent 192.0.2.1"));
        let session = ScenarioPlan {
            session: Some(SessionPlan::default()),
            ..scenario(&[Some("http://127.0.0.1:8081")])
        };
        assert!(refused(session).contains("one origin"));
        let many: Vec<String> = (0..100).map(|port| format!("http://127.0.0.1:{}", 9000 + port)).collect();
        let many: Vec<_> = many.iter().map(|text| Some(text.as_str())).collect();
        assert!(refused(scenario(&many)).contains("more than 100"));
        assert_eq!(further(&mut scenario(&many[1..]), &first, &[]).unwrap().len(), 99);
    }
}
