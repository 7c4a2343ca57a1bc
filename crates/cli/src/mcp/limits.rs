//! What a load of a client may be: where to, how much, how long.
//!
//! Stricter than `prony load`: private addresses need consent, too, because who asks is a program.

use crate::args::McpArgs;
use anyhow::{Result, bail};
use plan::net::HttpUrl;
use serde_json::Value;
use units::Nanos;

/// The limits that were given at the start.
pub(super) struct LoadLimits {
    consent: Vec<String>,
    rate_max: f64,
    duration_max: Nanos,
    connections_max: u64,
}

impl LoadLimits {
    pub(super) fn new(args: &McpArgs) -> Self {
        Self {
            consent: args.consent.clone(),
            rate_max: args.rate_max.0,
            duration_max: args.duration_max,
            connections_max: args.connections_max,
        }
    }

    /// The longest load.
    pub(super) const fn duration_max(&self) -> Nanos {
        self.duration_max
    }

    /// The arguments of `prony load`.
    ///
    /// # Errors
    /// A host that was not allowed, or more than the limits.
    pub(super) fn arguments(&self, asked: &Value) -> Result<Vec<String>> {
        let given = asked["url"].as_str().unwrap_or_default();
        let url = HttpUrl::parse(given)?;
        self.check_host(&url)?;
        let number = |key: &str, usual: f64, most: f64| -> Result<f64> {
            let value = match &asked[key] {
                Value::Null => usual,
                value => value.as_f64().unwrap_or(f64::NAN),
            };
            if !(value > 0.0 && value <= most) {
                bail!(
                    "`{key}` must be above 0 and at most {most}, which was set when `prony mcp` was started"
                );
            }
            Ok(value)
        };
        let longest_s = self.duration_max.0 as f64 / 1e9;
        let rate = number("rate", self.rate_max.min(100.0), self.rate_max)?;
        let connections =
            number("connections", 8.0_f64.min(self.connections_max as f64), self.connections_max as f64)?;
        let seconds = number("seconds", 5.0_f64.min(longest_s), longest_s)?;
        let mut arguments = vec!["load".to_owned(), format!("{}{}", url.origin(), url.path)];
        let mut put = |flag: &str, value: String| arguments.extend([flag.to_owned(), value]);
        put("-R", rate.to_string());
        put("-c", (connections.ceil() as u64).to_string());
        put("-d", format!("{}ms", (seconds * 1e3).ceil() as u64));
        put("--format", "markdown".to_owned());
        // No proxy of the environment stands between a check of the host and the host.
        put("--proxy", "none".to_owned());
        for host in &self.consent {
            put("--consent", host.clone());
        }
        arguments.push("--quiet".to_owned());
        Ok(arguments)
    }

    fn check_host(&self, url: &HttpUrl) -> Result<()> {
        let address = url.host.parse::<std::net::IpAddr>();
        // A name may mean another address tomorrow; `localhost` may not.
        let is_loopback = url.host == "localhost" || address.is_ok_and(|address| address.is_loopback());
        if is_loopback || self.consent.contains(&url.host) {
            return Ok(());
        }
        bail!(
            "{} may not be loaded: only loopback addresses, and hosts that were named when `prony mcp` was started\n  \
             remedy: ask the user to start it with --consent {}",
            url.host,
            url.host
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn limits() -> LoadLimits {
        LoadLimits {
            consent: vec!["staging.test".to_owned()],
            rate_max: 500.0,
            duration_max: Nanos::from_secs(10),
            connections_max: 16,
        }
    }

    #[test]
    fn a_load_goes_to_allowed_hosts_within_its_limits() {
        let words = |asked: Value| limits().arguments(&asked).map(|words| words.join(" "));
        assert_eq!(
            words(json!({ "url": "http://127.0.0.1:8080/a?b=1" })).unwrap(),
            "load http://127.0.0.1:8080/a?b=1 -R 100 -c 8 -d 5000ms --format markdown --proxy none --consent staging.test --quiet"
        );
        assert!(
            words(json!({ "url": "http://staging.test/", "rate": 500, "seconds": 10, "connections": 16 }))
                .is_ok()
        );
        for (asked, cause) in [
            (json!({ "url": "http://10.0.0.1/" }), "10.0.0.1 may not be loaded"),
            (json!({ "url": "http://192.0.2.1/" }), "may not be loaded"),
            (json!({ "url": "http://localhost.evil.test/" }), "may not be loaded"),
            (json!({ "url": "--consent" }), "may not be loaded"),
            (json!({ "url": "ftp://127.0.0.1/" }), "cannot be loaded"),
            (json!({}), "cannot be loaded"),
            (json!({ "url": "http://localhost/", "rate": 501 }), "`rate` must be above 0 and at most 500"),
            (json!({ "url": "http://localhost/", "rate": "all" }), "`rate` must be"),
            (
                json!({ "url": "http://localhost/", "seconds": 11 }),
                "`seconds` must be above 0 and at most 10",
            ),
            (json!({ "url": "http://localhost/", "connections": 0 }), "`connections` must be"),
        ] {
            let error = words(asked.clone()).expect_err(&asked.to_string()).to_string();
            assert!(error.contains(cause), "{asked}: {error}");
        }
    }
}
