//! Who gets alarms: webhooks, and Alertmanagers by their API v2.

use anyhow::{Context as _, Result, bail};
use plan::net::HttpUrl;
use probe::Limits;
use schema::alarm::{AlarmLine, AlarmState};
use schema::plan::TlsPlan;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::net::SocketAddr;
use std::path::Path;
use std::time::Duration;
use wire::{RequestHead, encode_request};

/// Bounds of one exchange: a receiver takes an alarm and acts later.
const LIMITS: Limits = Limits { timeout: Duration::from_secs(5), body_bytes: 64 << 10 };
/// Most of a refusal that is shown.
const REFUSAL_CHARS_MAX: usize = 300;
/// How long an Alertmanager takes an alarm that it hears nothing more of for firing: four times the time after which it
/// is sent again.
pub(super) const KEPT: Duration = Duration::from_secs(240);

/// Who gets alarms, and where.
#[derive(Debug, Deserialize, Serialize)]
pub(super) struct Receiver {
    kind: Kind,
    url: HttpUrl,
    address: SocketAddr,
    tls: Option<TlsPlan>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize)]
pub(super) enum Kind {
    /// Gets each alarm that fires or ends, once, as JSON.
    Webhook,
    /// Gets what fires again and again, and what has ended.
    Alertmanager,
}

impl Receiver {
    /// Resolves its URL, before anything is measured.
    ///
    /// # Errors
    /// It is no URL, does not resolve, or is public without consent; certificates that cannot be read.
    pub(super) fn new(kind: Kind, url: &str, consent: &[String]) -> Result<Self> {
        let url = HttpUrl::parse(url)?;
        let address = url.resolve(consent)?;
        let tls = plan::tls::of_url(None, &url, Path::new("."))?;
        tls.as_ref().map(generate::tls::load).transpose()?;
        Ok(Self { kind, url, address, tls })
    }

    pub(super) const fn kind(&self) -> Kind {
        self.kind
    }

    /// `the Alertmanager at http://127.0.0.1:9093`
    pub(super) fn name(&self) -> String {
        let kind = match self.kind {
            Kind::Webhook => "webhook",
            Kind::Alertmanager => "Alertmanager",
        };
        format!("the {kind} at {}", self.url.origin())
    }

    /// Sends alarms.
    ///
    /// # Errors
    /// They were not taken.
    pub(super) fn send(&self, lines: &[&AlarmLine]) -> Result<()> {
        match self.kind {
            Kind::Webhook => lines.iter().try_for_each(|line| {
                self.post(&self.url.path, &serde_json::to_vec(line).unwrap_or_default())
            }),
            Kind::Alertmanager => {
                let now = jiff::Timestamp::now();
                let alerts: Vec<Value> = lines.iter().map(|line| alert(line, now)).collect();
                let path = format!("{}/api/v2/alerts", self.url.path.trim_end_matches('/'));
                self.post(&path, &serde_json::to_vec(&alerts).unwrap_or_default())
            }
        }
    }

    fn post(&self, target: &str, body: &[u8]) -> Result<()> {
        let headers = [("Content-Type", "application/json"), ("Connection", "close")]
            .map(|(name, value)| (name.to_owned(), value.to_owned()));
        let host = self.url.authority();
        let head = RequestHead { method: "POST", target, host: &host, headers: &headers };
        let request = encode_request(&head, body)?;
        let tls = self.tls.as_ref().map(generate::tls::load).transpose()?;
        let tls = tls.as_ref().map(generate::tls::for_probe);
        let answer = probe::exchange_over(self.address, tls.as_ref(), &request, false, LIMITS)
            .with_context(|| format!("{} did not take an alarm", self.name()))?;
        if !(200..300).contains(&answer.status) {
            let reason = String::from_utf8_lossy(&answer.body);
            let reason: String = reason.chars().filter(|c| !c.is_control()).take(REFUSAL_CHARS_MAX).collect();
            bail!("{} refused an alarm (status {}): {reason}", self.name(), answer.status);
        }
        Ok(())
    }
}

/// An alarm as the API v2 of Alertmanager takes it. Labels say which alarm it is, and are the same when it ends.
fn alert(line: &AlarmLine, now: jiff::Timestamp) -> Value {
    let ends = match line.state {
        AlarmState::Fires => now.checked_add(KEPT).unwrap_or(now),
        AlarmState::Ends => now,
    };
    json!({
        "labels": {
            "alertname": "prony",
            "alarm": line.when,
            "run": line.run,
            "trial": line.trial.to_string(),
            "cell": line.cell,
            "severity": if line.abort { "critical" } else { "warning" },
        },
        "annotations": { "summary": line.alarm, "description": line.evidence },
        "startsAt": line.since_wall,
        "endsAt": ends.to_string(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use schema::metric::Unit;
    use schema::version::AlarmVersion;

    #[test]
    fn an_alert_has_the_same_labels_when_it_ends() {
        let line = |state| AlarmLine {
            schema: AlarmVersion::default(),
            run: "r".to_owned(),
            trial: 1,
            cell: "c".to_owned(),
            alarm: "slow".to_owned(),
            when: "p99 > 1ms".to_owned(),
            state,
            at_wall: "2026-11-25T00:00:05Z".to_owned(),
            since_wall: "2026-11-25T00:00:00Z".to_owned(),
            value: 2e6,
            unit: Unit::Nanoseconds,
            bound: 1e6,
            evidence: "2 ms, limit 1 ms".to_owned(),
            abort: true,
        };
        let now: jiff::Timestamp = "2026-11-25T00:00:06Z".parse().unwrap();
        let [fires, ends] = [AlarmState::Fires, AlarmState::Ends].map(|state| alert(&line(state), now));
        assert_eq!(fires["labels"], ends["labels"]);
        assert_eq!(fires["labels"]["severity"], "critical");
        assert_eq!(
            (&fires["endsAt"], &ends["endsAt"]),
            (&json!("2026-11-25T00:04:06Z"), &json!("2026-11-25T00:00:06Z"))
        );
        assert_eq!(fires["startsAt"], "2026-11-25T00:00:00Z");
    }

    #[test]
    fn receivers_on_hosts_of_others_need_consent() {
        for kind in [Kind::Webhook, Kind::Alertmanager] {
            let refused = Receiver::new(kind, "http://192.0.2.1:9093", &[]).unwrap_err().to_string();
            assert!(refused.contains("--consent 192.0.2.1"), "{refused}");
            Receiver::new(kind, "http://192.0.2.1:9093", &["192.0.2.1".to_owned()]).unwrap();
            assert!(Receiver::new(kind, "ftp://127.0.0.1/", &[]).is_err());
        }
    }
}
